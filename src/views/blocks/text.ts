/** What a condition may leave out: `late && …`. */
export type Maybe<Part> = Part | false | '' | 0 | undefined;

/** One text, or those of several that are there. */
export type Texts = string | readonly Maybe<string>[];

export function join(texts: Texts, joint: string): string {
  return typeof texts === 'string' ? texts : texts.filter(Boolean).join(joint);
}

/** Cuts to `length` characters with an ellipsis. Never splits a surrogate pair. */
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
 * A safety net for mrkdwn in which foreign text may not have been escaped: keeps what is already escaped, dates, and
 * mentions of people, channels and user groups.
 */
export function sanitizeMrkdwn(text: string): string {
  return text
    .replace(/&(?!amp;|lt;|gt;)/gu, '&amp;')
    .replace(
      /(<!date\^\d+\^[^|<>]+\|[^|<>]+>|<@[UW][A-Z0-9]+>|<#[CGD][A-Z0-9]+>|<!subteam\^S[A-Z0-9]+>)|[<>]/gu,
      (found, ours: string | undefined) => ours ?? escapeMarkup(found),
    );
}

/** Foreign text for `plain_text`, which has no markup: only flattened and truncated. */
export function plainText(text: string, length: number): string {
  return truncate(flat(text), length) || '–';
}

/** mrkdwn of the bot as plain text. */
export function stripMarkup(text: string): string {
  return text
    .replaceAll(/[`*]/gu, '')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');
}

/** Lines of at most `length` characters, broken between words if possible. */
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

export function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
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

/** As many of the lines as fit into `length` characters, then `and 12 more`. */
export function truncateLines(all: readonly Maybe<string>[], length: number, joint = '\n'): string {
  const lines = all.filter((line) => typeof line === 'string' && line !== '') as string[];
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

/** Decimal units, as the control panel counts: `812 GB`, `1.24 GB`, `52.4 MB`. From 100,000 GB on in TB. */
export function formatBytes(amount: number): string {
  if (amount < 1000) return `${formatInteger(Math.round(amount))} B`;
  if (amount < 1e6) return `${digits(amount / 1e3)} kB`;
  if (amount < 1e9) return `${digits(amount / 1e6)} MB`;
  if (amount < 1e14) return `${digits(amount / 1e9)} GB`;
  return `${digits(amount / 1e12)} TB`;
}

// Creating a formatter takes as long as using it a hundred times.
const dollars = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD' });
const plainNumber = new Intl.NumberFormat('en-US');

/** Charges as the CDN reports them, in dollars. */
export function formatMoney(amount: number): string {
  return dollars.format(amount);
}

/** `81 %`: whole per cent, never rounded up to the limit nor down to nothing. */
export function formatPercent(part: number, whole: number): string {
  const share = (part / whole) * 100;
  if (share > 0 && share < 1) return 'under 1 %';
  return `${formatInteger(share < 100 ? Math.floor(share) : Math.round(share))} %`;
}

/** Three significant digits: `1.24`, `12.4`, `124`, `1,240`. */
function digits(amount: number): string {
  const decimals = amount >= 100 ? 0 : amount >= 10 ? 1 : 2;
  return plainNumber.format(Number(amount.toFixed(decimals)));
}
