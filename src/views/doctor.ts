import { renderAnswer } from './blocks/answer.ts';
import type { Message } from './blocks/blocks.ts';
import { commandButton } from './blocks/buttons.ts';
import { renderChart } from './blocks/chart.ts';
import { formatMoment, pluralize } from './blocks/format.ts';
import { renderTable } from './blocks/table.ts';
import { escapeMrkdwn } from './blocks/text.ts';

/** One finding of the doctor. */
export interface Finding {
  /** `slack token` */
  readonly check: string;
  /** `limited`: it works, with less. `skipped`: it cannot be looked at from here. */
  readonly state: 'ok' | 'limited' | 'failed' | 'skipped';
  /** What was found, in plain text. Never a secret. */
  readonly says: string;
  /** What to do, in plain text. */
  readonly fix?: string;
}

const words = { failed: 'wrong', limited: 'limited', skipped: 'not checked', ok: 'fine' } as const;
const order = ['failed', 'limited', 'skipped', 'ok'] as const;
/** More fixes than this are for the table, which has every finding. */
const mostFixes = 5;

/** The findings, what is wrong first, with the fix for each. */
export function renderFindings(found: readonly Finding[], asOf: Date): Message {
  const findings = found.toSorted((a, b) => order.indexOf(a.state) - order.indexOf(b.state));
  const count = (state: Finding['state']): number => findings.filter((one) => one.state === state).length;
  const [failed, limited] = [count('failed'), count('limited')];
  const checks = pluralize(findings.length, 'check');
  const text =
    failed + limited === 0
      ? `${checks}, nothing is wrong.`
      : `${failed} of ${checks} wrong, ${limited} limited.`;
  return renderAnswer({
    text,
    lines: [`*${text}*`, ...listFixes(findings)],
    picture: renderTable({
      caption: 'What the bot needs',
      columns: ['Check', 'State', 'Found', 'Fix'],
      rows: findings.map(({ check, state, says, fix }) => [check, words[state], says, fix ?? '–']),
    }),
    actions: [commandButton('Look again', 'doctor')],
    notes: [
      '`npm run doctor` says the same to operators, also while the bot is down',
      `as of ${formatMoment(asOf)}`,
    ],
  });
}

/** A line a fix, with the checks it is for. */
function listFixes(findings: readonly Finding[]): string[] {
  const byFix = new Map<string, string[]>();
  for (const { check, state, fix } of findings) {
    if (fix === undefined || state === 'ok') continue;
    byFix.set(fix, [...(byFix.get(fix) ?? []), check]);
  }
  return [...byFix]
    .slice(0, mostFixes)
    .map(([fix, checks]) => `*${escapeMrkdwn(checks.join(', '), 200)}*: ${escapeMrkdwn(fix, 300)}`);
}

const values = [1, 2];

/** Small ones of each kind, to see whether this workspace takes them. */
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
