import type { Broken } from '../../auth/audit/chain.ts';
import type { Checkpoint } from '../../auth/audit/checkpoint.ts';
import { context, message, section } from '../blocks/blocks.ts';
import { formatMoment } from '../blocks/dates.ts';
import type { Message } from '../blocks/message.ts';
import { formatInteger, pluralize } from '../blocks/text.ts';

/** The daily message for a channel: for people, with a line that `npm run audit:verify` reads. */
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
      `Leave it here: a record that is rewritten or cut later no longer fits it. To check: \`npm run audit:verify -- --checkpoint "…"\` with this line. Public key ${kid}: \`${made.publicKey}\``,
    ),
  ]);
}

/** Posted instead of a checkpoint. */
export function renderBrokenRecord(broken: Broken): Message {
  const text = 'The audit record does not hold together, so no checkpoint was signed.';
  return message(text, [
    section(`:rotating_light: *${text}*\n${describeBroken(broken)}`),
    context(
      'The database may have been changed past the bot. Its operator: run `npm run audit:verify` and see docs/operating.md.',
    ),
  ]);
}

/** The fault of the first wrong record, in plain text that needs no escaping. */
export function describeBroken({ seq, problem, found, noted }: Broken): string {
  const nth = `Record ${formatInteger(seq)}`;
  const checkpoint = `the checkpoint of record ${formatInteger(noted?.seq ?? 0)}`;
  switch (problem) {
    case 'missing':
      return found !== undefined && Number.isSafeInteger(found)
        ? `${nth} is missing: record ${formatInteger(found)} stands in its place.`
        : `${nth} is missing: the record in its place has no number.`;
    case 'altered':
      return `${nth} was changed: its hash does not fit its content.`;
    case 'unlinked':
      return `${nth} does not follow the record before it: its previous hash differs.`;
    case 'foreign':
      return `${nth} belongs to another workspace.`;
    case 'rewritten':
      return `${nth} is not the one that ${checkpoint} was signed for: the record was rewritten since, at or before it.`;
    case 'cut-off':
      return `${nth} and what follows is gone: ${checkpoint} says that there were more.`;
  }
}
