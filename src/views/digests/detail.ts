import type { Finding } from '../../digests/figures/findings.ts';
import { context, message, section } from '../blocks/blocks.ts';
import type { Attachment, Message } from '../blocks/message.ts';
import { truncateLines } from '../blocks/text.ts';
import { renderFinding } from './findings.ts';

/** As many names in one line of a thread, and as many lines of one part. */
export const mostShown = 10;

export interface Part {
  readonly title: string;
  readonly lines: readonly string[];
}

/** What changed, in full. */
export function changedPart(changed: readonly Finding[]): Part {
  return { title: 'Changed', lines: changed.flatMap((finding) => renderFinding(finding, mostShown) ?? []) };
}

/** A message of a thread: parts under their titles; those without a line are left out. */
export function renderDetail(
  title: string,
  parts: readonly Part[],
  note: string,
  files: readonly Attachment[],
): Message {
  const drawn = parts
    .filter(({ lines }) => lines.length > 0)
    .map((part) => section(`*${part.title}*\n${truncateLines(part.lines, 2700)}`));
  return {
    ...message(title, [section(`*${title}*`), ...drawn, context(note)]),
    ...(files.length > 0 ? { files } : {}),
  };
}
