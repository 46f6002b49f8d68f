import type { Broken } from '../auth/audit-chain.ts';
import type { Checkpoint } from '../auth/checkpoint.ts';
import { brokenInWords } from './audit-broken.ts';
import { context, message, section } from './blocks.ts';
import { moment } from './dates.ts';
import type { Message } from './message.ts';
import { count } from './text.ts';

/** The daily note for a channel: for people, and a line that `npm run audit:verify` reads. */
export function checkpoint(made: {
  readonly checkpoint: Checkpoint;
  readonly line: string;
  readonly publicKey: string;
}): Message {
  const { line } = made;
  const { seq, at, kid } = made.checkpoint;
  const text = `Audit checkpoint: ${count(seq, 'record')}.`;
  return message(`${text} ${line}`, [
    section(`*Audit checkpoint* · ${count(seq, 'record')} up to ${moment(at)}`),
    section(`\`\`\`${line}\`\`\``),
    context(
      `Leave it here: whoever rewrites or cuts the record later no longer fits it. To look: \`npm run audit:verify -- --checkpoint "…"\` with this line. Public key ${kid}: \`${made.publicKey}\``,
    ),
  ]);
}

/** Instead of a checkpoint. */
export function brokenRecord(broken: Broken): Message {
  const text = 'The audit record does not hold together, so no checkpoint was signed.';
  return message(text, [
    section(`:rotating_light: *${text}*\n${brokenInWords(broken)}`),
    context(
      'Somebody may have changed the database past the bot. Whoever runs it: `npm run audit:verify`, and docs/operating.md.',
    ),
  ]);
}
