/** Cut to `length` characters, visibly. Never splits a surrogate pair. */
export function truncate(text: string, length: number): string {
  if (text.length <= length) return text;
  return `${text.slice(0, length - 1).replace(/[\uD800-\uDBFF]$/u, '')}…`;
}

/**
 * Foreign text for mrkdwn: Slack's three special characters escaped (so that no `<!channel>` or link can hide in a
 * zone's name), line breaks and control characters flattened, at most `length` characters before escaping.
 */
export function escapeMrkdwn(text: string, length = 100): string {
  return escapeMarkup(truncate(flat(text), length));
}

/** Foreign text in a `code` span. */
export function formatCode(text: string, length = 100): string {
  const inside = escapeMarkup(truncate(flat(text).replaceAll('`', 'ˋ'), length));
  return inside === '' ? '(empty)' : `\`${inside}\``;
}

export function escapeMarkup(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/**
 * mrkdwn from anywhere in our code, made safe should somebody have forgotten to escape foreign text in it: what is
 * escaped already stays as it is, and so do dates and mentions of people, channels and user groups.
 */
export function sanitizeMrkdwn(text: string): string {
  return text
    .replace(/&(?!amp;|lt;|gt;)/gu, '&amp;')
    .replace(
      /(<!date\^\d+\^[^|<>]+\|[^|<>]+>|<@[UW][A-Z0-9]+>|<#[CGD][A-Z0-9]+>|<!subteam\^S[A-Z0-9]+>)|[<>]/gu,
      (found, ours: string | undefined) => ours ?? escapeMarkup(found),
    );
}

/** Foreign text for `plain_text`, which knows no markup: only flattened and cut. */
export function plainText(text: string, length: number): string {
  return truncate(flat(text), length) || '–';
}

/** Our own mrkdwn as `plain_text`: what is escaped and marked in it reads as it was meant. */
export function stripMarkup(text: string): string {
  return text.replaceAll('`', '').replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
}

/** Lines of at most `length` characters, broken between words where there are any. */
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

/** `3 zones`, `1 zone`, `no zones`. */
export function pluralize(number: number, one: string, many = `${one}s`): string {
  if (number === 0) return `no ${many}`;
  return `${formatInteger(number)} ${number === 1 ? one : many}`;
}

/** 12345 → `12,345`. */
export function formatInteger(number: number): string {
  return number.toLocaleString('en-US');
}

/** Words that a phone must not part at the end of a line: a day and its number. */
export function joinWithNonBreakingSpaces(text: string): string {
  return text.replaceAll(' ', '\u00A0');
}

/** As many of the lines as fit into `length` characters, then `and 12 more`. */
export function truncateLines(lines: readonly string[], length: number, joint = '\n'): string {
  let text = '';
  for (const [index, whole] of lines.entries()) {
    const line = truncateMarkup(whole, Math.min(1000, length));
    const longer = index === 0 ? line : `${text}${joint}${line}`;
    const left = lines.length - index;
    const reserve = left > 1 ? `${joint}and ${formatInteger(left)} more`.length : 0;
    if (longer.length + reserve > length) return `${text}${text ? joint : ''}and ${formatInteger(left)} more`;
    text = longer;
  }
  return text;
}

/** Cuts mrkdwn that is escaped already, never inside `&amp;` or a mention. */
export function truncateMarkup(text: string, length: number): string {
  return text.length <= length
    ? text
    : `${truncate(text, length).replace(/(?:&[a-z]*|<[^<>]*)…$/u, '')}…`.replace(/……$/u, '…');
}

function flat(text: string): string {
  // Bidirectional overrides go as well: they can make a name read as another.
  return text
    .replace(/[\p{Cc}\u2028\u2029]+/gu, ' ')
    .replace(/[\u200E\u200F\u202A-\u202E\u2066-\u2069]/gu, '')
    .trim();
}
