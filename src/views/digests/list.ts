import type { KnownBlock } from '@slack/types';
import { canBeTakenOver, type Digest } from '../../digests/model.ts';
import { actions, context, limits, type Message, message, say, section } from '../blocks/blocks.ts';
import { button, commandButton, connectButton } from '../blocks/buttons.ts';
import { formatInteger, formatMoment, pluralize } from '../blocks/format.ts';
import { selectOf } from '../blocks/menu-of-buttons.ts';
import { renderTable } from '../blocks/table.ts';
import { formatCode, join, plainText } from '../blocks/text.ts';
import { manageButtons, manageMenu, resumeButton, takeOverButton } from './notices.ts';
import { describeNextRuns, describeSchedule, formatRunTime } from './schedule.ts';
import { describeKinds, describeOrder, describePause, describeThreshold } from './words.ts';

/** A digest, and what the person who looks may do with it. */
export interface Row {
  readonly digest: Digest;
  readonly last: { readonly due: Date; readonly state: string } | undefined;
  readonly manages: boolean;
  /** Whether they own it. */
  readonly own: boolean;
}

/** As many can be taken over by a press below the list. */
const mostOrphans = 2;

export function renderDigestList(rows: readonly Row[], asOf: Date): Message {
  const create = commandButton('New digest', 'digest new', 0, { style: 'primary' });
  if (rows.length === 0) {
    const text = 'No digests yet: a digest posts how your CDN does, when you want it.';
    return say(text, actions(create));
  }
  const paused = rows.filter(({ digest }) => digest.paused).length;
  const text = `${pluralize(rows.length, 'digest')}${paused > 0 ? `, ${formatInteger(paused)} paused` : ''}`;
  const orphans = rows.filter(({ digest, own }) => !own && canBeTakenOver(digest));
  return message(text, [
    section(`*${text}*`),
    ...renderTable({
      caption: 'Digests',
      columns: ['Digest', 'Next', 'Where', 'Owner', 'Last', 'When', 'Id'],
      rows: rows.map(({ digest, last }) => [
        describeKinds(digest),
        describeState(digest),
        { parts: [{ channel: digest.channel }] },
        { person: digest.owner.userId },
        describeLast(digest, last),
        join(
          [describeSchedule(digest.schedule), describeThreshold(digest.subject.only, digest.subject.kinds)],
          ', ',
        ),
        digest.id,
      ]),
    }),
    actions(
      create,
      selectOf(
        'Run, pause, edit…',
        rows
          .filter(({ manages }) => manages)
          .map(({ digest }) => ({
            label: plainText(`${digest.id} · ${describeKinds(digest)}`, limits.option),
            buttons: manageButtons(digest),
          })),
      ),
      ...orphans.slice(0, mostOrphans).map(({ digest: { id } }) => takeOverButton(id, `Take over ${id}`)),
    ),
    context(`as of ${formatMoment(asOf)}`),
  ]);
}

function describeState({ paused, nextDue, schedule }: Digest): string {
  if (paused) return paused.reason === 'by-hand' ? 'paused' : `paused: ${describePause(paused.reason)}`;
  return nextDue ? formatRunTime(nextDue, schedule.zone) : 'not planned';
}

function describeLast({ schedule }: Digest, last: Row['last']): string {
  return last ? `${ends[last.state] ?? 'under way'}, ${formatRunTime(last.due, schedule.zone)}` : 'never';
}

const mostAtHome = 5;

/** For the Home tab: the first few, those that can be taken over before all, and a button for all. */
export function digestsAtHome(rows: readonly Row[]): KnownBlock[] {
  if (rows.length === 0) return [];
  const others = rows.filter(({ own }) => !own).length;
  const stopped = others > 0 ? ` · ${others} of others’ stopped` : '';
  const isStuck = ({ digest }: Row): number => Number(canBeTakenOver(digest));
  const shown = rows.toSorted((a, b) => isStuck(b) - isStuck(a));
  return [
    section(
      `*Digests:* ${pluralize(rows.length - others, 'digest')} of yours${stopped}`,
      commandButton('All digests', 'digest list'),
    ),
    ...shown.slice(0, mostAtHome).flatMap(renderDigestRow),
  ];
}

/** What, when, where, how the last run went, a menu for managers, and a button for people who can take it over. */
function renderDigestRow({ digest, last, manages, own }: Row): KnownBlock[] {
  const { id, owner, channel, schedule, paused, nextDue } = digest;
  const next = nextDue ? `next ${formatRunTime(nextDue, schedule.zone)}` : '';
  const state = paused ? `:double_vertical_bar: *paused:* ${describePause(paused.reason, paused.by)}` : next;
  const ended = last
    ? ` · last ${formatRunTime(last.due, schedule.zone)}: ${ends[last.state] ?? 'under way'}`
    : '';
  const row = section(
    `${formatCode(id)} ${describeOrder(digest)}\n<#${channel}> · <@${owner.userId}> · ${state}${ended}`,
  );
  const isOrphaned = !own && canBeTakenOver(digest);
  if (!manages) return [isOrphaned ? { ...row, accessory: takeOverButton(id) } : row];
  // Not in the menu: its confirmation would ask for every entry.
  const menu = manageMenu(digest);
  return [
    { ...row, ...(menu ? { accessory: menu } : {}) },
    ...(isOrphaned ? [actions(takeOverButton(id))] : []),
  ];
}

const ends: Readonly<Record<string, string>> = {
  sent: 'posted',
  quiet: 'silent',
  skipped: 'skipped',
  failed: 'failed',
  unknown: 'unknown whether it arrived',
};

export function renderRunning({ id, channel }: Digest, isNew: boolean): Message {
  return say(`The digest ${formatCode(id)} is ${isNew ? '' : 'already '}on its way to <#${channel}>.`);
}

export function renderPausedByHand({ id, paused }: Digest): Message {
  const why = paused ? describePause(paused.reason, paused.by) : 'paused';
  const text = `The digest ${formatCode(id)} is ${paused?.reason === 'by-hand' ? '' : 'paused: '}${why}.`;
  return say(text, actions(resumeButton(id)));
}

export function renderResumed(digest: Digest, now: Date): Message {
  return say(`The digest ${formatCode(digest.id)} runs ${describeOrder(digest)}.`, ...next(digest, now));
}

/** For its channel. */
export function renderUnchanged({ id }: Digest, by: string): Message {
  return say(`<@${by}> resumed the digest ${formatCode(id)}: it comes here again.`);
}

export function renderTakenOver(digest: Digest, by: string, now: Date): Message {
  const text = `<@${by}> took over the digest ${formatCode(digest.id)}: it runs with their key now.`;
  return say(text, ...next(digest, now));
}

/** It was taken over, and its channel still takes no message. */
export function renderTakenOverOnly({ id, channel }: Digest): Message {
  const text = `The digest ${formatCode(id)} is yours now, but I cannot write into <#${channel}>.`;
  const what = 'Invite me there (`/invite @cdn`), or edit it to go to another channel.';
  return message(text, [section(`:warning: ${text}\n${what}`), actions(button('Edit', 'digests:edit', id))]);
}

export function renderDeleted({ id }: Digest, minutes: number): Message {
  const undo = actions(button('Undo', 'digests:undo', id));
  return say(`The digest ${formatCode(id)} is deleted.`, undo, context(`Undo works for ${minutes} minutes.`));
}

export function renderRestored(digest: Digest, now: Date): Message {
  return say(`The digest ${formatCode(digest.id)} is back.`, ...next(digest, now));
}

export function renderPostedAgain({ channel }: Digest): Message {
  return say(`It is on its way to <#${channel}>.`);
}

function next({ paused, schedule }: Digest, now: Date): KnownBlock[] {
  return paused ? [] : [context(describeNextRuns(schedule, now))];
}

const mostRows = 10;

/** For the owner: the digests that were paused when the app was removed. */
export function renderReinstalled(digests: readonly Digest[], { hasKey }: { hasKey: boolean }): Message {
  const isOne = digests.length === 1;
  const paused = isOne ? 'One digest of yours is' : `${pluralize(digests.length, 'digest')} of yours are`;
  const text = `The bot is back in this workspace. ${paused} paused since it was removed.`;
  const key = hasKey ? '' : 'Your CDN key was destroyed with it: connect it again. ';
  const [whose, which] = isOne ? ['its channel', 'it'] : ['their channels', 'them'];
  return message(text, [
    section([
      `:double_vertical_bar: *${text}*`,
      `${key}Invite the bot to ${whose} (\`/invite @cdn\`), then resume ${which}.`,
    ]),
    ...renderOwnRows(digests),
    actions(
      !hasKey && connectButton('Connect my key'),
      button(isOne ? 'Resume' : 'Resume all', 'digests:resume-all', 'uninstalled'),
      commandButton('All digests', 'digest list'),
    ),
  ]);
}

export function renderResumedAll(digests: readonly Digest[]): Message {
  const text = `${pluralize(digests.length, 'digest')} of yours ${digests.length === 1 ? 'runs' : 'run'} again.`;
  const all = actions(commandButton('All digests', 'digest list'));
  return message(text, [section(`*${text}*`), ...renderOwnRows(digests), all]);
}

function renderOwnRows(digests: readonly Digest[]): KnownBlock[] {
  const more = digests.length - mostRows;
  return [
    ...digests
      .slice(0, mostRows)
      .flatMap((digest) => renderDigestRow({ digest, last: undefined, manages: true, own: true })),
    ...(more > 0 ? [context(`and ${pluralize(more, 'more digest')}`)] : []),
  ];
}
