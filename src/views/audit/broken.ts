import type { Broken } from '../../auth/audit/chain.ts';
import { formatInteger } from '../blocks/text.ts';

/** What is wrong with the first wrong record, in plain text that needs no escaping. */
export function describeBroken({ seq, problem, found, noted }: Broken): string {
  const nth = `Record ${formatInteger(seq)}`;
  const checkpoint = `the checkpoint of record ${formatInteger(noted?.seq ?? 0)}`;
  switch (problem) {
    case 'missing':
      return found !== undefined && Number.isSafeInteger(found)
        ? `${nth} is missing: record ${formatInteger(found)} stands in its place.`
        : `${nth} is missing: what stands in its place has no number.`;
    case 'altered':
      return `${nth} was changed: its hash is not that of what it says.`;
    case 'unlinked':
      return `${nth} does not follow the record before it: its previous hash is another one.`;
    case 'foreign':
      return `${nth} belongs to another workspace.`;
    case 'rewritten':
      return `${nth} is not the one that ${checkpoint} was signed for: the record was rewritten since, at or before it.`;
    case 'cut-off':
      return `${nth} and what follows is gone: ${checkpoint} says that there were more.`;
  }
}
