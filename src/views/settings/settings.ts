import type { Button, KnownBlock, ModalView } from '@slack/types';
import type { MissingScope } from '../../auth/identity.ts';
import type { Change, Effect, ListField, Quorum, ValueField } from '../../auth/policy/changes.ts';
import type { Right } from '../../auth/policy/policy.ts';
import { actions, compact, context, type FormResult, type Message, say, section } from '../blocks/blocks.ts';
import { button, commandButton, confirmation } from '../blocks/buttons.ts';
import { missingScopeLines } from '../blocks/failure.ts';
import { agree, formatCount, formatMoment, pluralize } from '../blocks/format.ts';
import { formResult, modal } from '../blocks/inputs.ts';
import { escapeMrkdwn, join, truncateLines } from '../blocks/text.ts';
import { decisionButtons } from '../operations/approvals.ts';
import type { ShownOperation } from '../operations/describe.ts';

export interface Consequences {
  readonly changes: readonly Change[];
  readonly effects: readonly Effect[];
  readonly unreachable: readonly Quorum[];
  readonly missingScopes: readonly MissingScope[];
  readonly nobodyOperates: boolean;
  /** A group's handle by its id, where known: a mention would notify all its members. */
  readonly groupName: (id: string) => string | undefined;
}

/** The review before saving: on top of the form, which stays unchanged. */
export function renderSettingsReview(
  found: (Consequences & { secondAdmins: readonly string[] }) | { problems: readonly string[] },
): ModalView {
  const settings = { title: 'What would change', callbackId: 'settings:reviewed', close: 'Back' };
  if ('problems' in found) {
    const lines = ['*This cannot be saved yet*', ...found.problems.map((problem) => `• ${problem}`)];
    return modal(settings, [section(`:warning: ${lines.join('\n')}`)]);
  }
  if (found.changes.length === 0) return modal(settings, [section('Nothing would change.')]);
  const then =
    found.secondAdmins.length > 0
      ? `ask ${mentionAll(found.secondAdmins)}: this needs a second admin`
      : 'make it so';
  const next = `Go back and press *Save* to ${then}.`;
  return modal(settings, [...renderConsequences(found), context(next)]);
}

/** `told`: the channels that were notified; false where the bot cannot write there. */
export function renderSaved(
  version: number,
  found: Consequences,
  told: ReadonlyMap<string, boolean>,
): FormResult {
  const text = `Saved (version ${version})`;
  return closeAll(
    formResult(done, text, [
      section(`:white_check_mark: *${text}*`),
      ...renderConsequences(found),
      ...[...told].map(([channel, isTold]) =>
        context(
          isTold
            ? `<#${channel}> was notified.`
            : `:warning: <#${channel}> could not be notified: invite the bot there (\`/invite @cdn\`).`,
        ),
      ),
      actions(undoButton(version)),
    ]),
  );
}

export function renderWaiting(operation: ShownOperation, admins: readonly string[]): FormResult {
  const text = `Not saved yet: ${mentionAll(admins)} has to confirm.`;
  return closeAll(
    formResult(done, text, [
      section(`:hourglass_flowing_sand: *${text}*`),
      section(operation.words.consequences.text),
      actions(takeBackButton(operation)),
      context(renderExpiry(operation)),
    ]),
  );
}

/** Above the settings: the change that waits, with what this reader can do. */
export function renderPending(operation: ShownOperation, reader: string): KnownBlock[] {
  const { requester, words } = operation;
  const isOwn = requester.userId === reader;
  const who = isOwn ? 'Your change waits for another admin' : `<@${requester.userId}> asks for a change`;
  return [
    section(`:hourglass_flowing_sand: *${who}*`),
    section(words.consequences.text),
    actions(...(isOwn ? [takeBackButton(operation)] : decisionButtons(operation))),
    context(renderExpiry(operation)),
  ];
}

function takeBackButton({ id }: ShownOperation): Button {
  return button('Take back', 'settings:reject', id);
}

function renderExpiry({ expiresAt }: ShownOperation): string {
  return `Expires ${formatMoment(expiresAt)}, or when the settings change otherwise.`;
}

export function describeSettingsChange(
  changes: readonly Change[],
  { fewer, gains, off, assistant }: Lowered,
  author: string,
): string {
  const why = [
    fewer.includes('destroy') && 'deletions need fewer approvals',
    fewer.includes('change') && 'changes need fewer approvals',
    gains.length > 0 && `<@${author}> gains *${gains.join(', ')}*`,
    off && 'a second admin is not asked any more',
    assistant && 'Slack’s assistant may do more',
  ];
  const lines = renderList(changes.map((change) => describeChange(change, () => undefined)));
  return join([lines, `:warning: ${join(why, ' · ')}`], '\n');
}

interface Lowered {
  readonly fewer: readonly string[];
  readonly gains: readonly string[];
  readonly off: boolean;
  readonly assistant?: boolean | undefined;
}

export function renderNothingChanged(): FormResult {
  return formResult(done, 'Nothing was changed, so nothing was saved.');
}

export function renderChangedMeanwhile(last: { by: string; at: Date } | undefined): FormResult {
  const text = last
    ? `Changed meanwhile by <@${last.by}>, ${formatMoment(last.at)}. Yours was not saved.`
    : 'The settings are not the ones you saw. Yours were not saved.';
  const again = actions(commandButton('Look again', 'settings'));
  return formResult(done, text, [section(`:warning: *${text}*`), again]);
}

const done = { title: 'Settings', callbackId: 'settings:done' };

/** *Done* closes the summary below too: it shows the settings as they were. */
function closeAll({ modal, message }: FormResult): FormResult {
  return { modal: { ...modal, clear_on_close: true }, message };
}

/** User ids of the admin who asked for a change, and of the one who confirmed it. */
export type Author = { readonly by: string; readonly second?: string };

export function renderAnnouncement({ by, second }: Author, version: number, found: Consequences): Message {
  const confirmed = second === undefined ? '' : `, confirmed by <@${second}>`;
  const text = `<@${by}> changed the settings of the CDN bot (version ${version})${confirmed}.`;
  return say(text, ...renderConsequences(found));
}

export function undoButton(version: number): Button {
  const what =
    version > 1
      ? `The settings become those of version ${version - 1} again.`
      : 'The settings are empty again: everybody can read, nobody can do more.';
  return button('Undo the last change', 'settings:undo', String(version), {
    confirm: confirmation('Undo the last change?', what, 'Undo', 'Keep'),
  });
}

function renderList(lines: readonly string[]): string {
  const points = lines.map((line) => `• ${line}`);
  return truncateLines(points, 2500);
}

function renderConsequences(found: Consequences): KnownBlock[] {
  const { changes, effects, unreachable, nobodyOperates, groupName, missingScopes } = found;
  const warnings = [
    ...unreachable.map(warnOfQuorum),
    nobodyOperates && ':information_source: Nobody is an operator: everybody may read, nobody may do more.',
  ];
  return compact<KnownBlock>([
    section(`*What changes*\n${renderList(changes.map((change) => describeChange(change, groupName)))}`),
    effects.length > 0 && section(`*Whose permissions change*\n${renderList(effects.map(describeEffect))}`),
    effects.length === 0 &&
      changes.every(({ kind }) => kind !== 'cap') &&
      section('*Nobody’s permissions change.*'),
    warnings.some(Boolean) && section(truncateLines(warnings, 2800)),
    ...missingScopeLines(missingScopes),
  ]);
}

function warnOfQuorum({ class: right, needed, approvers }: Quorum): string {
  const what = right === 'destroy' ? 'Deletions' : 'Changes';
  const there =
    approvers === 0 ? 'nobody is an approver' : `there is only ${formatCount(approvers, 'approver')}`;
  return `:warning: *${what} need ${pluralize(needed, 'approval')}, but ${there}.* A request can then only expire.`;
}

/** The settings as the form and the differences call them. */
export const labels: Readonly<Record<ListField | ValueField, string>> = {
  operators: 'Operators',
  operatorGroups: 'Operator groups',
  approvers: 'Approvers',
  approverGroups: 'Approver groups',
  exportChannels: 'Exports may go to',
  postChannels: 'Answers may be posted to',
  approvalChannel: 'Approval channel',
  destroyApprovals: 'Approvals for a deletion',
  changeApprovals: 'Approvals for a change',
  expiryMinutes: 'Minutes until a request expires',
  secondAdmin: 'A second admin confirms',
  exportKeepDays: 'Days until exported files are deleted from Slack (0 = never)',
  assistant: 'Slack’s assistant',
};

function describeChange(change: Change, groupName: Consequences['groupName']): string {
  switch (change.kind) {
    case 'list': {
      const list = (verb: string, ids: readonly string[]): string => {
        const names = ids.map((id) => describeId(change.field, id, groupName));
        return names.length > 0 ? `${verb} ${truncateLines(names, 900, ', ')}` : '';
      };
      const parts = [list('added', change.added), list('removed', change.removed)];
      return `${labels[change.field]}: ${join(parts, '; ')}`;
    }
    case 'value': {
      const [from, to] = [change.from, change.to].map((value) =>
        change.field === 'assistant' ? describeAssistant(value) : describeValue(value),
      );
      return `${labels[change.field]}: ${from} → *${to}*`;
    }
    case 'cap':
      return `<#${change.channel}>: ${describeCap(change.from)} → *${describeCap(change.to)}*`;
  }
}

function mentionAll(ids: readonly string[]): string {
  const all = ids.map((id) => `<@${id}>`);
  return all.length > 1 ? `${all.slice(0, -1).join(', ')} or ${all.at(-1)}` : (all[0] ?? 'another admin');
}

export function describeId(field: ListField, id: string, groupName: Consequences['groupName']): string {
  if (field === 'operators' || field === 'approvers') return `<@${id}>`;
  if (field === 'exportChannels' || field === 'postChannels') return `<#${id}>`;
  const name = groupName(id);
  return name === undefined ? `group \`${escapeMrkdwn(id, 30)}\`` : `@${escapeMrkdwn(name, 60)}`;
}

export const assistantLabels: Readonly<Record<string, string>> = {
  off: 'off',
  reading: 'may read',
  proposing: 'may read, and ask for changes',
};

function describeAssistant(mode: unknown): string {
  return assistantLabels[String(mode)] ?? 'off';
}

function describeValue(value: string | number | boolean | undefined): string {
  if (typeof value === 'boolean') return value ? 'on' : 'off';
  return typeof value === 'string' ? `<#${value}>` : String(value ?? 'none');
}

function describeCap(cap: Right): string {
  if (cap === 'admin') return 'no cap';
  return cap === 'none' ? 'nothing allowed' : `up to ${cap}`;
}

function describeEffect({ who, gains, loses }: Effect): string {
  const people = who.map((id) => `<@${id}>`);
  const parts = [
    gains.length > 0 && `${agree(who.length, 'gains', 'gain')} *${gains.join(', ')}*`,
    loses.length > 0 && `${agree(who.length, 'loses', 'lose')} *${loses.join(', ')}*`,
  ];
  return `${truncateLines(people, 600, ', ')} ${join(parts, ', ')}`;
}
