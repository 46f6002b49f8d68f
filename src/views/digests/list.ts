import type { KnownBlock, Overflow } from '@slack/types';
import { canBeTakenOver, type Digest } from '../../digests/model.ts';
import {
  actions,
  button,
  commandButton,
  connectButton,
  context,
  message,
  plain,
  section,
} from '../blocks/blocks.ts';
import { formatMoment } from '../blocks/dates.ts';
import type { Message } from '../blocks/message.ts';
import { formatCode, pluralize } from '../blocks/text.ts';
import { resumeButton, takeOverButton } from './notices.ts';
import { describeNextRuns, formatRunTime } from './schedule.ts';
import { describeOrder, describePause } from './words.ts';

/** A digest, and what the person who looks may do with it. */
export interface Row {
  readonly digest: Digest;
  readonly last: { readonly due: Date; readonly state: string } | undefined;
  /** Whether they may change it. */
  readonly manages: boolean;
  /** Whether they own it. */
  readonly own: boolean;
}

interface Listed {
  readonly listed: readonly Row[];
  readonly total: number;
  readonly page: number;
  readonly pages: number;
  readonly asOf: Date;
}

export function renderDigestList({ listed, total, page, pages, asOf }: Listed): Message {
  const text =
    total === 0
      ? 'No digests yet: a digest posts how your CDN does, when you want it.'
      : `${pluralize(total, 'digest')}.`;
  return message(text, [
    section(total === 0 ? text : `*${text}*`),
    ...listed.flatMap(renderDigestRow),
    actions(
      commandButton('New digest', 'digest new', 0, total === 0 ? { style: 'primary' } : {}),
      ...(page > 1 ? [commandButton('Previous', `digest list ${page - 1}`, 1)] : []),
      ...(page < pages ? [commandButton('Next', `digest list ${page + 1}`, 2)] : []),
    ),
    ...(total === 0 ? [] : [context(`Page ${page} of ${pages} · as of ${formatMoment(asOf)}`)]),
  ]);
}

const mostAtHome = 5;

/** For the Home tab: the first few, those that can be taken over before all, and a button for all. */
export function digestsAtHome(rows: readonly Row[]): KnownBlock[] {
  if (rows.length === 0) return [];
  const others = rows.filter(({ own }) => !own).length;
  const stopped = others > 0 ? ` · ${others} of others’ stopped` : '';
  const shown = rows.toSorted((a, b) => Number(isStuck(b)) - Number(isStuck(a)));
  return [
    section(
      `*Digests:* ${pluralize(rows.length - others, 'digest')} of yours${stopped}`,
      commandButton('All digests', 'digest list'),
    ),
    ...shown.slice(0, mostAtHome).flatMap(renderDigestRow),
  ];
}

function isStuck({ digest: { paused } }: Row): boolean {
  return paused !== undefined && canBeTakenOver(paused.reason);
}

/** What, when, where, how the last run went, a menu for managers, and a button for people who can take it over. */
function renderDigestRow({ digest, last, manages, own }: Row): KnownBlock[] {
  const { id, owner, channel, schedule, paused, nextDue } = digest;
  const state = paused
    ? `:double_vertical_bar: *paused:* ${describePause(paused.reason, paused.by)}`
    : nextDue
      ? `next ${formatRunTime(nextDue, schedule.zone)}`
      : '';
  const ended = last
    ? ` · last ${formatRunTime(last.due, schedule.zone)}: ${ends[last.state] ?? 'under way'}`
    : '';
  const row = section(
    `${formatCode(id)} ${describeOrder(digest)}\n<#${channel}> · <@${owner.userId}> · ${state}${ended}`,
  );
  const orphaned = !own && paused !== undefined && canBeTakenOver(paused.reason);
  if (!manages) return [orphaned ? { ...row, accessory: takeOverButton(id) } : row];
  // Not in the menu: its confirmation would ask for every entry.
  return [{ ...row, accessory: rowMenu(digest) }, ...(orphaned ? [actions(takeOverButton(id))] : [])];
}

const ends: Readonly<Record<string, string>> = {
  sent: 'posted',
  quiet: 'silent',
  skipped: 'skipped',
  failed: 'failed',
  unknown: 'unknown whether it arrived',
};

function rowMenu({ id, paused }: Digest): Overflow {
  const entry = (label: string, verb: string) => ({ text: plain(label), value: `${verb}|${id}` });
  return {
    type: 'overflow',
    action_id: `digests:menu:${id}`,
    options: [
      entry('Run now', 'run'),
      paused ? entry('Resume', 'resume') : entry('Pause', 'pause'),
      entry('Edit', 'edit'),
      entry('Delete', 'delete'),
    ],
  };
}

export function renderRunning({ id, channel }: Digest, isNew: boolean): Message {
  const text = `The digest ${formatCode(id)} is ${isNew ? '' : 'already '}on its way to <#${channel}>.`;
  return message(text, [section(text)]);
}

export function renderPausedByHand({ id, paused }: Digest): Message {
  const why = paused ? describePause(paused.reason, paused.by) : 'paused';
  const text = `The digest ${formatCode(id)} is ${paused?.reason === 'by-hand' ? '' : 'paused: '}${why}.`;
  return message(text, [section(text), actions(resumeButton(id))]);
}

export function renderResumed(digest: Digest, runs: readonly Date[]): Message {
  const text = `The digest ${formatCode(digest.id)} runs ${describeOrder(digest)}.`;
  return message(text, [section(text), ...nextOf(digest, runs)]);
}

/** For its channel. */
export function renderUnchanged({ id }: Digest, by: string): Message {
  const text = `<@${by}> resumed the digest ${formatCode(id)}: it comes here again.`;
  return message(text, [section(text)]);
}

export function renderTakenOver(digest: Digest, by: string, runs: readonly Date[]): Message {
  const text = `<@${by}> took over the digest ${formatCode(digest.id)}: it runs with their key now.`;
  return message(text, [section(text), ...nextOf(digest, runs)]);
}

/** It was taken over, and its channel still takes no message. */
export function takenOverOnly({ id, channel }: Digest): Message {
  const text = `The digest ${formatCode(id)} is yours now, but I cannot write into <#${channel}>.`;
  const next = 'Invite me there (`/invite @cdn`), or edit it to go to another channel.';
  return message(text, [section(`:warning: ${text}\n${next}`), actions(button('Edit', 'digests:edit', id))]);
}

export function renderDeleted({ id }: Digest, minutes: number): Message {
  const text = `The digest ${formatCode(id)} is deleted.`;
  return message(text, [
    section(text),
    actions(button('Undo', 'digests:undo', id)),
    context(`Undo works for ${minutes} minutes.`),
  ]);
}

export function renderRestored(digest: Digest, runs: readonly Date[]): Message {
  const text = `The digest ${formatCode(digest.id)} is back.`;
  return message(text, [section(text), ...nextOf(digest, runs)]);
}

export function renderPostedAgain({ channel }: Digest): Message {
  const text = `It is on its way to <#${channel}>.`;
  return message(text, [section(text)]);
}

function nextOf({ schedule }: Digest, runs: readonly Date[]): KnownBlock[] {
  return runs.length > 0 ? [context(describeNextRuns(runs, schedule.zone))] : [];
}

const mostRows = 10;

/** For the owner: the digests that were paused when the app was removed. */
export function renderReinstalled({
  digests,
  hasKey,
}: {
  readonly digests: readonly Digest[];
  readonly hasKey: boolean;
}): Message {
  const one = digests.length === 1;
  const paused = one ? 'One digest of yours is' : `${pluralize(digests.length, 'digest')} of yours are`;
  const text = `The bot is back in this workspace. ${paused} paused since it was removed.`;
  const key = hasKey ? '' : 'Your CDN key was destroyed with it: connect it again. ';
  const next = one
    ? 'Invite the bot to its channel (`/invite @cdn`), then resume it.'
    : 'Invite the bot to their channels (`/invite @cdn`), then resume them.';
  return message(text, [
    section(`:double_vertical_bar: *${text}*\n${key}${next}`),
    ...rows(digests),
    actions(
      ...(hasKey ? [] : [connectButton('Connect my key')]),
      button(one ? 'Resume' : 'Resume all', 'digests:resume-all', 'uninstalled'),
      commandButton('All digests', 'digest list'),
    ),
  ]);
}

export function renderResumedAll(digests: readonly Digest[]): Message {
  const one = digests.length === 1;
  const text = `${pluralize(digests.length, 'digest')} of yours ${one ? 'runs' : 'run'} again.`;
  return message(text, [
    section(`*${text}*`),
    ...rows(digests),
    actions(commandButton('All digests', 'digest list')),
  ]);
}

function rows(digests: readonly Digest[]) {
  const left = digests.length - mostRows;
  return [
    ...digests
      .slice(0, mostRows)
      .flatMap((digest) => renderDigestRow({ digest, last: undefined, manages: true, own: true })),
    ...(left > 0 ? [context(`and ${pluralize(left, 'more digest')}`)] : []),
  ];
}
