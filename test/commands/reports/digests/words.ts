import { findElements } from '../../../../simulator/slack/block-ids.ts';
import type { VisibleMessage } from '../../../../simulator/slack/messages.ts';
import { describePause, type PauseReason } from '../../../../src/views/reports/report.ts';
import { readStable } from '../../../support/words.ts';

/** How a test recognises a post of a digest, or the notice about one. */
export const says = {
  /** Under a post that a person asked for. */
  askedForBy: (name = '') => new RegExp(`asked for by @?${name}`),
  /** Times are those of the schedule: `Mon 23 Nov 09:00`. */
  late: (due: string, made: string) => new RegExp(`Late: due ${due}, posted ${made}`),
  skipped: (due = '') => new RegExp(`^:zzz: Skipped while the bot was down: the digest of ${due}`),
  missed: (runs: number) => new RegExp(`Skipped while the bot was down: ${runs} runs before this one`),
  unchanged: /No notable change/,
  newly: (what: 'disabled' | 'suspended', names = '\\S+') => new RegExp(`Newly ${what}: ${names}`),
  notPosted: /could not be posted in #ops/,
  notInFull: /could not be posted in full in #ops/,
  notConfirmed: /could not be confirmed in #ops. Slack gave no answer/,
  /** A notice names its reason in the words of every answer. */
  paused: (reason: PauseReason) => new RegExp(`is paused: ${describePause(reason)}`),
} as const;

/** Notices in a channel and answers to one person, about a digest with this id. */
export const answers = {
  announced: /added a digest to this channel/,
  takenOver: (by: string) => new RegExp(`@${by} took over`),
  restored: /is back/,
  gone: /No digest has the ID/,
  cannotWrite: /can’t post in/,
  ofAnother: /who owns this digest/,
  withoutKey: /You have no CDN key connected|You have not connected a CDN key/,
  list: /^\d+ digests?/,
} as const;

/** The words of a message about a digest for a snapshot, without its id and that of a request. */
export function readDigest(message: Pick<VisibleMessage, 'reads'> | string, id = ''): string {
  return readStable(message, { id }).replaceAll(/\b[\da-f]{32}\b/g, '<request>');
}

/** Whether a message has this button about this digest. */
export function offers({ blocks }: Pick<VisibleMessage, 'blocks'>, actionId: string, value: string): boolean {
  return findElements(blocks).some(
    ({ element }) => element['action_id'] === actionId && element['value'] === value,
  );
}
