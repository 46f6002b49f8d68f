import type { Json } from '../world.ts';
import { blocks } from './blocks.ts';
import { type Checked, createReport } from './report.ts';
import { textLength } from './text-length.ts';

export type { Checked } from './report.ts';

const slackCeiling = 13_200;
const ownCeiling = 12_000;
const markdownText = 12_000;
const advisedText = 4000;

/**
 * Checks the content of a message: `text`, `markdown_text`, `blocks`, `attachments`. Limits: reference §3.1; what Slack
 * refuses comes with its code, what only this project refuses (no `text`, more than 12,000 characters) as a problem.
 */
export function checkMessage(
  body: Json,
  options: { label: string; ephemeral?: boolean; update?: boolean },
): Checked {
  const { text, blocks: drawn, attachments, markdown_text: markdown } = body;
  const { label } = options;
  const report = createReport('message', label);
  const hasText = typeof text === 'string' && text !== '';
  const hasBlocks = Array.isArray(drawn) && drawn.length > 0;
  const hasAttachments = Array.isArray(attachments) && attachments.length > 0;

  if (typeof markdown === 'string') {
    if (hasText || hasBlocks)
      return refused(label, 'markdown_text_conflict', 'markdown_text excludes text and blocks');
    if (markdown.length > markdownText)
      return refused(label, 'msg_too_long', `markdown_text has more than ${markdownText} characters`);
  } else if (!hasText && !hasBlocks && !hasAttachments)
    return refused(label, 'no_text', 'a message needs text or blocks');
  else if (!hasText)
    report.advise('/text', 'a message needs text that stands alone, for notifications and screen readers');
  if (typeof text === 'string' && text.length > advisedText)
    report.advise('/text', `text has ${text.length} characters; ${advisedText} are advised`);
  if (Array.isArray(attachments) && attachments.length > 100)
    return refused(label, 'too_many_attachments', 'no more than 100 attachments');
  if (drawn === undefined || drawn === null) return report.checked('invalid_blocks');

  blocks('message')(drawn, '/blocks', report);
  const length = textLength(drawn);
  if (length > ownCeiling)
    report.advise('/blocks', `the blocks hold ${length} characters; this project allows ${ownCeiling}`);
  const checked = report.checked('invalid_blocks');
  if (checked.error === undefined && length > slackCeiling) {
    const tooLong = refused(label, 'msg_blocks_too_long', `the blocks hold ${length} characters`);
    return { ...tooLong, problems: [...checked.problems, ...tooLong.problems] };
  }
  return checked;
}

function refused(label: string, error: string, message: string): Checked {
  return { error, messages: [`[ERROR] ${message}`], problems: [`${label}: ${error} ${message}`] };
}
