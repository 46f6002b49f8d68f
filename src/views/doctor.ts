import { actions, context, type Message, message, section } from './blocks/blocks.ts';
import { commandButton } from './blocks/buttons.ts';
import { renderChart } from './blocks/chart.ts';
import { formatMoment, pluralize } from './blocks/format.ts';
import { renderTable } from './blocks/table.ts';
import { escapeMrkdwn, join, truncateLines } from './blocks/text.ts';

export interface Finding {
  /** `slack token` */
  readonly check: string;
  /** `limited`: it works with restrictions. `skipped`: it cannot be checked from here. */
  readonly state: 'ok' | 'limited' | 'failed' | 'skipped';
  readonly says: string;
  readonly fix?: string;
}

/** Problems first, each with its fix, as lines: a phone shows two columns of a table. Passed checks are only named. */
export function renderFindings(found: readonly Finding[], asOf: Date): Message {
  const ofState = (...states: Finding['state'][]): Finding[] =>
    states.flatMap((state) => found.filter((one) => one.state === state));
  const [failed, limited] = [ofState('failed'), ofState('limited')];
  const ok = ofState('ok').map(({ check }) => check);
  const skipped = ofState('skipped').map(({ check, says }) => `${check} (${says})`);
  const checks = pluralize(found.length, 'check');
  const text =
    failed.length + limited.length === 0
      ? `No problems in ${checks}.`
      : `${checks}: ${failed.length} failed, ${limited.length} limited.`;
  // Findings with the same fix, such as a pasted manifest, are grouped, with the fix once.
  const problems = Map.groupBy(ofState('failed', 'limited'), ({ says, fix }) => fix ?? says);
  return message(text, [
    section(truncateLines([`*${text}*`, ...[...problems.values()].flatMap(listProblems)], 2800)),
    skipped.length > 0 && section(`*Not checked:* ${nameChecks(skipped.join(', '), 2800)}`),
    ok.length > 0 && section(`*OK:* ${nameChecks(ok.join(', '), 2800)}`),
    actions(commandButton('Check again', 'doctor')),
    context([
      '`npm run doctor` in a terminal shows more, even while the bot is down',
      `as of ${formatMoment(asOf)}`,
    ]),
  ]);
}

/** Lines for findings with one fix: it ends the line of a single one, and stands below several. */
function listProblems(findings: readonly Finding[]): string[] {
  const each = [...Map.groupBy(findings, ({ says }) => says)];
  const fix = findings[0]?.fix;
  const lines = each.map(([says, those]) => {
    const mark = those[0]?.state === 'failed' ? ':x:' : ':warning:';
    return `${mark} *${nameChecks(those.map(({ check }) => check).join(', '), 200)}*: ${escapeMrkdwn(each.length === 1 ? join([says, fix], '. ') : says, 400)}`;
  });
  return each.length > 1 && fix ? [...lines, `→ ${escapeMrkdwn(fix, 400)}`] : lines;
}

/** With channels as people read them: an ID says nothing. */
function nameChecks(checks: string, most: number): string {
  return escapeMrkdwn(checks, most).replaceAll(/\bchannel ([CG][A-Z0-9]{8,})\b/gu, 'channel <#$1>');
}

const values = [1, 2];

export const probes: Readonly<Record<'chart' | 'table', Message>> = {
  chart: {
    text: 'Trying a chart…',
    blocks: renderChart({
      kind: 'bar',
      title: 'Trying a chart',
      unit: 'Points',
      labels: ['one', 'two'],
      series: [{ name: 'Points', values }],
    }),
  },
  table: {
    text: 'Trying a table…',
    blocks: renderTable({
      caption: 'Trying a table',
      columns: ['Name', 'Points'],
      rows: values.map((value) => [`Row ${value}`, { number: value, text: String(value) }]),
    }),
  },
};
