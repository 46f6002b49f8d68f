import type { Finding } from './findings.ts';

/** The findings as a Markdown table, goals beside. */
export function table(findings: readonly Finding[]): string {
  const rows = findings.map(({ what, bot, beside, ratio, goal, met }) => [
    what,
    bot,
    beside,
    ratio,
    goal,
    met === undefined ? '' : met ? 'yes' : '**no**',
  ]);
  const head = ['measured', 'the bot', 'beside it, in the same run', 'ratio', 'goal', 'met'];
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
