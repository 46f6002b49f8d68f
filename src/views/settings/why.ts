import type { MissingScope } from '../../auth/identity.ts';
import type { Decision, Right, Rights } from '../../auth/policy/policy.ts';
import { actions, type Message, message, plain, say, section } from '../blocks/blocks.ts';
import { commandButton, connectButton } from '../blocks/buttons.ts';
import { missingScopeLines } from '../blocks/failure.ts';
import { formatCode, join, truncate } from '../blocks/text.ts';

/** A decision: first the step that refuses and who can change it, then the others. */
export function renderWhy(asked: {
  readonly name: string;
  readonly needs: Right;
  readonly decision: Decision;
  readonly about: string | undefined;
  readonly channelId: string | undefined;
  readonly missing: readonly MissingScope[];
  readonly admins: readonly string[];
  readonly reader: string;
}): Message {
  const { name, needs, decision, about, channelId, missing, admins, reader } = asked;
  const own = about === undefined;
  const who = own ? 'You' : `<@${about}>`;
  const verdict = decision.allowed ? 'can run' : 'can’t run';
  const here = channelId === undefined || channelId.startsWith('D') ? '' : ` in <#${channelId}>`;
  const sign = decision.allowed ? ':white_check_mark:' : ':no_entry:';
  const refusing = decision.trace.find(({ ok }) => !ok);
  const others = decision.trace.filter((step) => step !== refusing).map(renderStep);
  return message(`${own ? 'You' : 'This person'} ${verdict} /cdn ${name}: ${decision.reason}.`, [
    section([
      `${sign} *${who} ${verdict} ${formatCode(`/cdn ${name}`)}*${here}`,
      refusing && renderStep(refusing),
      refusing && nameAdmins(admins, reader),
    ]),
    section([`It needs the right *${needs}* (${meanings[needs]}).`, ...others]),
    ...missingScopeLines(missing),
    actions(
      own && decision.reason === 'no-key' && connectButton(),
      decision.allowed && own && needs === 'read' && commandButton(`/cdn ${name}`, name),
      commandButton('My permissions', 'whoami', 8),
      (!own || admins.includes(reader)) && commandButton('Open settings', 'settings', 9),
    ),
  ]);
}

function renderStep({ rule, says, ok }: Decision['trace'][number]): string {
  return `${ok ? ':heavy_check_mark:' : ':x:'} *${titles[rule]}*: ${says}`;
}

const mostNamed = 3;

function nameAdmins(admins: readonly string[], reader: string): string {
  if (admins.includes(reader)) return 'You are an admin: you can change that.';
  const names = admins.slice(0, mostNamed).map((id) => `<@${id}>`);
  if (names.length === 0) return '';
  return `Ask an admin: ${names.join(', ')} can change that.`;
}

export function renderWhichCommand(): Message {
  const examples = ['zones', 'export', 'variable', 'volume delete'].map((name, nth) =>
    commandButton(`Why ${truncate(name, 60)}`, `why ${name}`, nth),
  );
  return say('Which command? For example `/cdn why volume delete`.', actions(...examples));
}

/** For a name, since the bot knows people by their IDs. `action` runs with the chosen one. */
export function renderWhichPerson(name: string, action: string): Message {
  const text = `I can’t tell who ${formatCode(name, 40)} is.`;
  const picker = { type: 'users_select', action_id: action, placeholder: plain('Pick a person') } as const;
  return message(text, [section(`${text} Pick the person:`), actions(picker)]);
}

const titles: Readonly<Record<Decision['trace'][number]['rule'], string>> = {
  organisation: 'Workspace',
  role: 'Role',
  key: 'Key',
  channel: 'Channel',
  approval: 'Approval',
  destination: 'Destination',
};

const meanings: Readonly<Record<Right, string>> = {
  none: 'for everybody here',
  read: 'reads, changes nothing',
  export: 'exports logs',
  change: 'changes something in the CDN',
  destroy: 'deletes for good',
  admin: 'changes the bot’s settings',
};

export function rightsLine({ may, operator, approver, admin }: Rights): string {
  const classes = may.filter((right) => right !== 'admin');
  const roles = [operator && 'operator', approver && 'may approve', admin && 'admin'];
  return join([`rights: ${classes.join(', ') || 'none'}`, ...roles], ' · ');
}
