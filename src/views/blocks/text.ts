import { andMore } from './format.ts';

/** What a condition may leave out: `late && …`. */
export type Maybe<Part> = Part | false | '' | 0 | undefined;

export type Texts = string | readonly Maybe<string>[];

export function join(texts: Texts, joint: string): string {
  return typeof texts === 'string' ? texts : texts.filter(Boolean).join(joint);
}

export function truncate(text: string, length: number): string {
  if (text.length <= length) return text;
  return `${text.slice(0, length - 1).replace(/[\uD800-\uDBFF]$/u, '')}…`;
}

/** Foreign text for mrkdwn: no `<!channel>` or link of a zone's name works. `length` counts before escaping. */
export function escapeMrkdwn(text: string, length = 100): string {
  return escapeMarkup(truncate(flat(text), length));
}

export function formatCode(text: string, length = 100): string {
  const inside = escapeMarkup(truncate(flat(text).replaceAll('`', 'ˋ'), length));
  return inside === '' ? '(empty)' : `\`${inside}\``;
}

export function escapeMarkup(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** A safety net for what may not have been escaped: keeps dates, and mentions of people, channels and groups. */
export function sanitizeMrkdwn(text: string): string {
  return text
    .replace(/&(?!amp;|lt;|gt;)/gu, '&amp;')
    .replace(
      /(<!date\^\d+\^[^|<>]+\|[^|<>]+>|<@[UW][A-Z0-9]+>|<#[CGD][A-Z0-9]+>|<!subteam\^S[A-Z0-9]+>)|[<>]/gu,
      (found, ours: string | undefined) => ours ?? escapeMarkup(found),
    );
}

export function plainText(text: string, length: number): string {
  return truncate(flat(text), length) || '–';
}

export function stripMarkup(text: string): string {
  return text
    .replaceAll(/[`*]/gu, '')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');
}

export function wrapText(text: string, length: number): string[] {
  const lines: string[] = [];
  let rest = text.trim();
  while (rest.length > length) {
    const space = rest.lastIndexOf(' ', length);
    const line = space > 0 ? rest.slice(0, space) : rest.slice(0, length).replace(/[\uD800-\uDBFF]$/u, '');
    lines.push(line);
    rest = rest.slice(line.length).trimStart();
  }
  return rest === '' ? lines : [...lines, rest];
}

/** Our mrkdwn without its bold, for the text of a notification. A `*` in a hostname stays. */
export function unbold(text: string): string {
  return text.replaceAll(/(?<![^\s(>])\*(?=\S)([^*\n]+)(?<=\S)\*(?!\w)/gu, '$1');
}

export function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** As many of the lines as fit into `length` characters, then `and 12 more`. */
export function truncateLines(all: readonly Maybe<string>[], length: number, joint = '\n'): string {
  const lines = all.filter((line) => typeof line === 'string' && line !== '') as string[];
  let text = '';
  for (const [index, whole] of lines.entries()) {
    const line = truncateMarkup(whole, Math.min(1000, length));
    const longer = index === 0 ? line : `${text}${joint}${line}`;
    const left = lines.length - index;
    const reserve = left > 1 ? `${joint}${andMore(left)}`.length : 0;
    if (longer.length + reserve > length) return `${text}${text ? joint : ''}${andMore(left)}`;
    text = longer;
  }
  return text;
}

/** Cuts escaped mrkdwn, never inside `&amp;` or a mention. */
export function truncateMarkup(text: string, length: number): string {
  return text.length <= length
    ? text
    : `${truncate(text, length).replace(/(?:&[a-z]*|<[^<>]*)…$/u, '')}…`.replace(/……$/u, '…');
}

function flat(text: string): string {
  // Bidirectional overrides can make a name read as another.
  return text
    .replace(/[\p{Cc}\u2028\u2029]+/gu, ' ')
    .replace(/[\u200E\u200F\u202A-\u202E\u2066-\u2069]/gu, '')
    .trim();
}
