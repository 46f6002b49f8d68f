import type { DataTableBlock, KnownBlock, SectionBlock } from '@slack/types';
import { type ChartBlock, compact, type MessageBlock, section } from './blocks.ts';
import { andMore, formatMoment, formatNumber } from './format.ts';
import { escapeMarkup, escapeMrkdwn, join, type Maybe, truncateLines } from './text.ts';

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

// A phone's screen. Tables keep their first rows, charts their newest points.
const maxRows = 10;
const maxPoints = 12;
// A row of texts may take three lines of a phone.
const mostTexts = 6;
const barWidth = 10;

function writeChart({ title, chart }: ChartBlock): SectionBlock {
  const { series, axis_config: axis } = chart;
  const labels = axis.categories.slice(-maxPoints);
  const rows = series.map(({ data }) => data.slice(-maxPoints).map(({ value }) => value));
  const highest = Math.max(0, ...(rows[0] ?? []));
  const labelWidth = Math.max(...labels.map(({ length }) => length));
  const lines = labels.map((label, at) => {
    const bar = '█'.repeat(Math.ceil((Math.max(0, rows[0]?.[at] ?? 0) / highest) * barWidth) || 0);
    const numbers = rows.map((values) => formatNumber(values[at] ?? 0)).join(' / ');
    return `${label.padEnd(labelWidth)} ${bar.padEnd(barWidth)} ${numbers}`;
  });
  const cut = axis.categories.length - labels.length;
  const names = series.length > 1 && series.map(({ name }) => name).join(' / ');
  const newest = cut > 0 && `the newest ${maxPoints} of ${axis.categories.length}`;
  const about = join([axis.y_label, names, newest], ', ');
  const code = escapeMarkup(lines.join('\n').replaceAll('`', 'ˋ'));
  return section(`*${escapeMrkdwn(title)}*\n${escapeMrkdwn(about, 300)}\n\`\`\`\n${code}\n\`\`\``);
}

/** A table of texts: lines where they hold it all, since a phone shows ten characters of a column. */
export function preferLines(tables: readonly DataTableBlock[]): MessageBlock[] {
  return tables.map((table) => (table.rows.length - 1 > mostTexts ? table : writeTable(table)));
}

/** A line a row, its name in bold, below the names of many columns. The caption is for those who do not see the table. */
function writeTable({ rows: [header = [], ...rows] }: DataTableBlock): SectionBlock {
  const names = header.length > 2 && `_${header.map(writeCell).join(' · ')}_`;
  const room = names ? maxRows - 1 : maxRows;
  const shown = rows.length > room ? rows.slice(0, room - 1) : rows;
  const left = rows.length - shown.length;
  const lines = shown.map((cells) => {
    const [name = '', ...facts] = cells.map(writeCell);
    return join([name && `*${name}*`, ...facts], ' · ');
  });
  return section(truncateLines([names, ...lines, andMore(left)], 2900) || '–');
}

function writeCell(cell: DataTableBlock['rows'][number][number]): string {
  if (cell.type !== 'rich_text') return escapeMrkdwn(cell.text ?? '', 300);
  return cell.elements
    .flatMap((part) => (part.type === 'rich_text_section' ? part.elements : []))
    .map((element) => (element.type === 'date' ? formatMoment(new Date(element.timestamp * 1000)) : ''))
    .join('');
}
