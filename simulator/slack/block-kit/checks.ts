import type { Json } from '../world.ts';
import { isObject } from '../world.ts';
import { blocks } from './blocks.ts';
import { suggestions } from './options.ts';
import { type Checked, createReport, textLength } from './report.ts';
import { byType, flag, plain, type Rule, shape, string } from './rules.ts';

export type { Checked } from './report.ts';

const slackCeiling = 13_200;
const ownCeiling = 12_000;
const markdownText = 12_000;
const advisedText = 4000;

/**
 * Checks the content of a message: `text`, `markdown_text`, `blocks`, `attachments`. Limits: docs.slack.dev/reference/block-kit; what Slack
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
      return refuse(label, 'markdown_text_conflict', 'markdown_text excludes text and blocks');
    if (markdown.length > markdownText)
      return refuse(label, 'msg_too_long', `markdown_text has more than ${markdownText} characters`);
  } else if (!hasText && !hasBlocks && !hasAttachments)
    return refuse(label, 'no_text', 'a message needs text or blocks');
  else if (!hasText)
    report.advise('/text', 'a message needs text that stands alone, for notifications and screen readers');
  if (typeof text === 'string' && text.length > advisedText)
    report.advise('/text', `text has ${text.length} characters; ${advisedText} are advised`);
  if (Array.isArray(attachments) && attachments.length > 100)
    return refuse(label, 'too_many_attachments', 'no more than 100 attachments');
  if (drawn === undefined || drawn === null) return report.checked('invalid_blocks');

  blocks('message')(drawn, '/blocks', report);
  const length = textLength(drawn);
  if (length > ownCeiling)
    report.advise('/blocks', `the blocks hold ${length} characters; this project allows ${ownCeiling}`);
  const checked = report.checked('invalid_blocks');
  if (checked.error === undefined && length > slackCeiling) {
    const tooLong = refuse(label, 'msg_blocks_too_long', `the blocks hold ${length} characters`);
    return { ...tooLong, problems: [...checked.problems, ...tooLong.problems] };
  }
  return checked;
}

function refuse(label: string, error: string, message: string): Checked {
  return { error, messages: [`[ERROR] ${message}`], problems: [`${label}: ${error} ${message}`] };
}

const wholeView = 250_000;
const shared = {
  private_metadata: string(3000, 0),
  callback_id: string(255, 0),
  external_id: string(255, 0),
};

const modal: Rule = shape(
  { title: plain(24), blocks: blocks('modal') },
  {
    ...shared,
    submit: plain(24),
    close: plain(24),
    clear_on_close: flag,
    notify_on_close: flag,
    submit_disabled: flag,
  },
  (view, at, report) => {
    if (report.count('input', 0) > 0 && view['submit'] === undefined)
      report.refuse(at, 'missing required field: submit (a modal with inputs needs it)');
  },
);
const home: Rule = shape({ blocks: blocks('home') }, shared);

/** Checks a view for `views.*` or a `response_action`. Limits: docs.slack.dev/reference/block-kit. Slack's code is `invalid_arguments`. */
export function checkView(view: unknown, label: string, type: 'modal' | 'home'): Checked {
  const report = createReport(type, label);
  byType(type === 'modal' ? { modal } : { home })(view, '/view', report);
  const bytes = isObject(view) ? Buffer.byteLength(JSON.stringify(view)) : 0;
  if (bytes > wholeView) report.refuse('/view', `must be less than ${wholeView} bytes, has ${bytes}`);
  return report.checked('invalid_arguments');
}

/** Checks the answer to a `block_suggestion`. */
export function checkSuggestions(body: Json, label: string): Checked {
  const report = createReport('suggestion', label);
  suggestions(body, '', report);
  return report.checked('invalid_suggestions');
}
