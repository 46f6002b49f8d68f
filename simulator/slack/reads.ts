import type { Json } from './world.ts';
import { textOf } from './world.ts';

/** Turns ids into what a person sees in their place. */
export interface Names {
  user(id: string): string;
  channel(id: string): string;
}

/** Everything a person reads in blocks, a line each: texts, labels, cells, buttons. Marks of formatting are gone. */
export function readsOf(value: unknown, names: Names): string {
  const lines: string[] = [];
  collect(value, names, lines);
  return lines.filter((line) => line !== '').join('\n');
}

/** mrkdwn as it is drawn: links as labels, mentions as names, entities as characters, no marks. */
export function renderMrkdwn(mrkdwn: string, names: Names): string {
  let text = mrkdwn
    .replaceAll(/<@(\w+)(?:\|[^>]*)?>/g, (_, id: string) => `@${names.user(id)}`)
    .replaceAll(/<#(\w+)(?:\|[^>]*)?>/g, (_, id: string) => `#${names.channel(id)}`)
    .replaceAll(/<!date\^[^|>]*\|([^>]*)>/g, '$1')
    .replaceAll(/<!(?:subteam\^)?(\w+)(?:\|([^>]*))?>/g, (_, id: string, label?: string) => label ?? `@${id}`)
    .replaceAll(/<([^|>]+)\|([^>]*)>/g, '$2')
    .replaceAll(/<([^>]+)>/g, '$1');
  // One kind after the other, since they may stand in each other: *_both_*.
  for (const mark of ['\\*', '_', '~']) {
    text = text.replaceAll(
      new RegExp(`(^|[\\s(>"'*_~])${mark}(?=\\S)([^\\n]*?\\S)${mark}(?=$|[\\s).,:;!?"'*_~])`, 'gm'),
      '$1$2',
    );
  }
  return text
    .replaceAll(/`+([^`]*)`+/g, '$1')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');
}

// Drawn in this order; a member that is not here (ids, values, menus that are closed) is not read.
const readable = [
  'title',
  'rich_text_title',
  'subtitle',
  'caption',
  'label',
  'text',
  'fields',
  'body',
  'alt_text',
  'accessory',
  'element',
  'elements',
  'child_blocks',
  'hint',
  'placeholder',
  'initial_value',
  'initial_option',
  'actions',
  'details',
  'output',
  'tasks',
  'blocks',
  'submit',
  'close',
  'chart',
  'segments',
  'series',
  'description',
  'positive_button',
  'negative_button',
]; // prettier-ignore

function collect(value: unknown, names: Names, lines: string[]): void {
  if (typeof value === 'string') lines.push(value);
  else if (Array.isArray(value)) for (const item of value) collect(item, names, lines);
  else if (typeof value === 'object' && value !== null) collectObject(value as Json, names, lines);
}

function collectObject(value: Json, names: Names, lines: string[]): void {
  const type = value['type'];
  if (type === 'mrkdwn') lines.push(renderMrkdwn(String(value['text']), names));
  else if (type === 'plain_text') lines.push(String(value['text']));
  else if (typeof type === 'string' && type.startsWith('rich_text')) lines.push(richText(value, names));
  else if (type === 'table' || type === 'data_table') {
    if (typeof value['caption'] === 'string') lines.push(value['caption']);
    for (const row of value['rows'] as unknown[][])
      lines.push(row.map((cell) => readsOf(cell, names)).join(' | '));
  } else {
    for (const member of readable) if (member in value) collect(value[member], names, lines);
    // Choices that stand open on the page are read; those of a closed menu are not.
    if (type === 'radio_buttons' || type === 'checkboxes') collect(value['options'], names, lines);
  }
}

function richText(value: Json, names: Names): string {
  const inside = (value['elements'] as Json[] | undefined) ?? [];
  switch (value['type']) {
    case 'rich_text':
    case 'rich_text_list':
      return inside.map((part) => richText(part, names)).join('\n');
    default:
      return inside.map((part) => richElement(part, names)).join('');
  }
}

function richElement(part: Json, names: Names): string {
  switch (part['type']) {
    case 'user':
      return `@${names.user(String(part['user_id']))}`;
    case 'channel':
      return `#${names.channel(String(part['channel_id']))}`;
    case 'link':
      return String(part['text'] ?? part['url']);
    case 'emoji':
      return `:${String(part['name'])}:`;
    case 'date':
      return String(part['fallback'] ?? part['timestamp']);
    case 'broadcast':
      return `@${String(part['range'])}`;
    default:
      return textOf(part['text']);
  }
}
