import type { Person } from '../../auth/identity.ts';
import type { DigestSubject } from '../../digests/model.ts';
import type { Schedule } from '../../digests/schedule.ts';

/** What a person orders: what to tell of, when, where. */
export interface DigestOrder {
  readonly subject: DigestSubject;
  readonly schedule: Schedule;
  readonly channel: string;
}

/** A digest as it stands. */
export interface Digest extends DigestOrder {
  readonly id: string;
  readonly tenant: string;
  /** With whose key it runs. */
  readonly owner: Person;
  readonly revision: number;
  readonly paused: { readonly reason: PauseReason; readonly by: string | undefined } | undefined;
  readonly deletedAt: Date | undefined;
  readonly nextDue: Date | undefined;
}

/** Why a digest does not run. */
export type PauseReason =
  // By a person.
  | 'by-hand'
  // While its channel is being told for the first time.
  | 'new'
  // By the bot.
  | 'owner-gone'
  | 'key-missing'
  | 'key-refused'
  | 'right-lost'
  | 'channel-not-allowed'
  | 'channel-archived'
  | 'channel-gone'
  | 'bot-removed'
  | 'uninstalled'
  | 'failing';

/** What went wrong, without the digest's name, in mrkdwn. */
export function pauseWords(reason: PauseReason, by: string | undefined): string {
  switch (reason) {
    case 'by-hand':
      return by === undefined ? 'paused' : `paused by <@${by}>`;
    case 'new':
      return 'its channel was not told yet';
    case 'owner-gone':
      return 'its owner has left';
    case 'key-missing':
      return 'its owner has no CDN key connected any more';
    case 'key-refused':
      return 'the CDN refuses its owner’s key';
    case 'right-lost':
      return 'its owner may not read there any more';
    case 'channel-not-allowed':
      return 'digests may not go into its channel any more';
    case 'channel-archived':
      return 'its channel is archived';
    case 'channel-gone':
      return 'its channel is gone, or the bot cannot see it';
    case 'bot-removed':
      return 'the bot was removed from its channel';
    case 'uninstalled':
      return 'the bot was removed from the workspace';
    case 'failing':
      return 'it failed three times in a row';
  }
}

/** Where somebody else with the right can go on with it: wherever no person stopped it. */
export function canBeTakenOver(reason: PauseReason): boolean {
  return reason !== 'by-hand' && reason !== 'new';
}

/** Where it is the channel that has to be mended, or another one found. */
export function isOfChannel(reason: PauseReason): boolean {
  return reason === 'bot-removed' || reason.startsWith('channel-');
}
