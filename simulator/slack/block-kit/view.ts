import { isObject } from '../json.ts';
import type { Json } from '../world.ts';
import { blocks } from './blocks.ts';
import { suggestions } from './options.ts';
import { type Checked, createReport } from './report.ts';
import { byType, flag, plain, type Rule, shape, string } from './rules.ts';

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

/** Checks a view for `views.*` or a `response_action`. Limits: reference §3.1. Slack's code is `invalid_arguments`. */
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
