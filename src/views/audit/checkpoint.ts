import type { Broken } from '../../auth/audit/chain.ts';
import type { Checkpoint } from '../../auth/audit/checkpoint.ts';
import { context, message, section } from '../blocks/blocks.ts';
import { formatMoment } from '../blocks/dates.ts';
import type { Message } from '../blocks/message.ts';
import { pluralize } from '../blocks/text.ts';
import { describeBroken } from './broken.ts';

/** The daily note for a channel: for people, and a line that `npm run audit:verify` reads. */
export function renderCheckpoint(made: {
  readonly checkpoint: Checkpoint;
  readonly line: string;
  readonly publicKey: string;
}): Message {
  const { line } = made;
  const { seq, at, kid } = made.checkpoint;
  const text = `Audit checkpoint: ${pluralize(seq, 'record')}.`;
  return message(`${text} ${line}`, [
    section(`*Audit checkpoint* · ${pluralize(seq, 'record')} up to ${formatMoment(at)}`),
    section(`\`\`\`${line}\`\`\``),
    context(
      `Leave it here: whoever rewrites or cuts the record later no longer fits it. To look: \`npm run audit:verify -- --checkpoint "…"\` with this line. Public key ${kid}: \`${made.publicKey}\``,
    ),
  ]);
}

/** Instead of a checkpoint. */
export function renderBrokenRecord(broken: Broken): Message {
  const text = 'The audit record does not hold together, so no checkpoint was signed.';
  return message(text, [
    section(`:rotating_light: *${text}*\n${describeBroken(broken)}`),
    context(
      'Somebody may have changed the database past the bot. Whoever runs it: `npm run audit:verify`, and docs/operating.md.',
    ),
  ]);
}
