import type { Collected, DigestSubject } from '../reports/digest.ts';
import { message, section } from './blocks.ts';
import type { Message } from './message.ts';
import { bytes, money } from './numbers.ts';
import { count } from './text.ts';

/** What a digest says. */
export interface DrawnDigest {
  /** A few lines for the channel, at most 40 blocks: what frames it (buttons, late, skipped) comes on top. */
  readonly top: Message;
  /** The detail, in its thread, in order. A chart is a file of a message in here: `{ chart }` only, no bytes. */
  readonly thread: readonly Message[];
  /** Its threshold asks for silence: nothing is posted. A preview is shown all the same. */
  readonly quiet: boolean;
}

/** Draws what was collected. Pure: the same for a preview and for a run. */
export function drawDigest(
  { zones }: Collected,
  about: { readonly subject: DigestSubject; readonly now: Date },
): DrawnDigest {
  const text = zones
    ? `${count(zones.zones, 'zone')}, ${bytes(zones.used)} this month, ${money(zones.charges)} so far, ${zones.attention} need attention`
    : 'Nothing to tell.';
  const changed = zones?.before?.used !== zones?.used;
  const { only } = about.subject;
  const quiet =
    only === 'changed'
      ? zones?.before !== undefined && !changed
      : only !== 'always' && (zones?.attention ?? 0) <= only.above;
  return { top: message(text, [section(text)]), thread: [], quiet };
}
