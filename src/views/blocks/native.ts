import type { DataTableBlock, KnownBlock, SectionBlock } from '@slack/types';
import { type ChartBlock, compact, type MessageBlock, section } from './blocks.ts';
import { andMore, formatMoment, formatNumber } from './format.ts';
import { escapeMarkup, escapeMrkdwn, join, type Maybe, stripMarkup } from './text.ts';

export type NativeBlock = ChartBlock | DataTableBlock;

export function isChart(block: { readonly type: string }): block is ChartBlock {
  return block.type === 'data_visualization';
}

export function isTable(block: { readonly type: string }): block is DataTableBlock {
  return block.type === 'data_table';
}

export function isNative(block: { readonly type: string }): block is NativeBlock {
  return isChart(block) || isTable(block);
}

/** The same blocks for surfaces and workspaces that take no charts or tables: their contents as lines of text. */
export function replaceNativeBlocks(
  blocks: readonly Maybe<MessageBlock>[],
): Exclude<KnownBlock, DataTableBlock>[] {
  return compact(blocks).map((block) => (isNative(block) ? writeInWords(block) : block));
}

export function writeInWords(block: NativeBlock): SectionBlock {
  return isChart(block) ? writeChart(block) : writeTable(block);
}

// A phone's screen: tables keep their first rows.
const maxRows = 10;
const barWidth = 10;
// Lines that a phone shows between the sentence and the buttons, and the characters of each.
const screen = { lines: 16, characters: 34 };

function writeChart({ title, chart }: ChartBlock): SectionBlock {
  const { series, axis_config: axis } = chart;
  const labels = axis.categories;
  const rows = series.map(({ data }) => data.map(({ value }) => value));
  const highest = Math.max(0, ...(rows[0] ?? []));
  const labelWidth = Math.max(...labels.map(({ length }) => length));
  const lines = labels.map((label, at) => {
    const bar = '█'.repeat(Math.ceil((Math.max(0, rows[0]?.[at] ?? 0) / highest) * barWidth) || 0);
    const numbers = rows.map((values) => formatNumber(values[at] ?? 0)).join(' / ');
    return `${label.padEnd(labelWidth)} ${bar.padEnd(barWidth)} ${numbers}`;
  });
  const about = join([axis.y_label, series.length > 1 && series.map(({ name }) => name).join(' / ')], ', ');
  const code = escapeMarkup(lines.join('\n').replaceAll('`', 'ˋ'));
  return section(`*${escapeMrkdwn(title)}*\n${escapeMrkdwn(about, 300)}\n\`\`\`\n${code}\n\`\`\``);
}

/** The caption is for those who do not see the table. */
function writeTable({ rows: [header = [], ...rows] }: DataTableBlock): SectionBlock {
  const names = writeNames(header.map(writeCell));
  const [shown = []] = paginate(rows.map(writeRow), names);
  return section(join([names, ...shown, andMore(rows.length - shown.length)], '\n') || '–');
}

/** The names of more than two columns, above lines. */
export function writeNames(columns: readonly string[]): string {
  return columns.length > 2 ? `_${columns.join(' · ')}_` : '';
}

/** `*shop* · 9.1 TB · 91%` */
export function writeRow(cells: DataTableBlock['rows'][number]): string {
  const [name = '', ...facts] = cells.map(writeCell);
  return join([name && `*${name}*`, ...facts], ' · ');
}

/** As many lines a page as a phone shows below `names`, with the line that says how many more there are. */
export function paginate(lines: readonly string[], names = '', height = screen.lines): string[][] {
  const pages: string[][] = [];
  const taken = names === '' ? 0 : countScreenLines(names);
  const most = taken > 0 ? maxRows - 1 : maxRows;
  let left = 0;
  for (const [nth, line] of lines.entries()) {
    const page = pages.at(-1);
    const own = countScreenLines(line);
    const isLast = nth === lines.length - 1;
    if (page && left - own >= (isLast ? 0 : 1) && page.length < (isLast ? most : most - 1)) {
      page.push(line);
      left -= own;
    } else {
      pages.push([line]);
      left = height - taken - own;
    }
  }
  return pages;
}

function countScreenLines(text: string): number {
  const lines = stripMarkup(text)
    .replaceAll(/<!date[^<>]*>/gu, 'today at 10:15')
    .split('\n');
  return lines.reduce((sum, { length }) => sum + Math.max(1, Math.ceil(length / screen.characters)), 0);
}

const maxCell = 150;

function writeCell(cell: DataTableBlock['rows'][number][number]): string {
  if (cell.type !== 'rich_text') return escapeMrkdwn(cell.text ?? '', maxCell);
  return cell.elements
    .flatMap((part) => (part.type === 'rich_text_section' ? part.elements : []))
    .map((element) => (element.type === 'date' ? formatMoment(new Date(element.timestamp * 1000)) : ''))
    .join('');
}
