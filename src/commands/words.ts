export interface Words {
  /** The original text. Never echoed or logged: it may hold anything. */
  readonly raw: string;
  readonly tokens: readonly Token[];
  /** The plain words in order: `zones "my shop" sort:name` → `zones`, `my shop`. */
  readonly list: readonly string[];
  /** Which words of `list` were in quotes: such a word is a name. */
  readonly quoted?: readonly boolean[];
  /** Named words: `sort:name` → `{ sort: 'name' }`. Names are lower case; of a repeated one the last counts. */
  readonly named: Readonly<Record<string, string>>;
  /** Every named word in order, repeated ones too: `status:502 status:504`. */
  readonly pairs: readonly (readonly [name: string, value: string])[];
  /** All cleaned words, named ones included, joined by single spaces. */
  readonly text: string;
}

export interface Token {
  /** With Slack's markup: `<#C0OPS|ops>`. */
  readonly typed: string;
  /** Without markup and quotes; of a named word with its name: `sort:name`. */
  readonly text: string;
  readonly name?: string;
  /** The text; of a named word what stands behind its name. */
  readonly value: string;
  readonly quoted?: boolean;
}

interface Piece {
  readonly typed: string;
  readonly text: string;
  /** In quoted words neither a name nor a dash is special. */
  readonly quoted: boolean;
}

const quotes: Readonly<Record<string, string>> = {
  '"': '"',
  "'": "'",
  '`': '`',
  '“': '”“"',
  '”': '”"',
  '„': '“”"',
  '«': '»',
  '‘': "’‘'",
  '’': "’'",
};

/** Longer texts are cut, so that parsing stays fast whatever is pasted. */
const maxLength = 4000;

/** Invisible characters of copied text: from web pages, and around names in chats of mixed directions. */
const invisible = /[\u00AD\u200B-\u200F\u202A-\u202E\u2060-\u2064\u2066-\u2069\uFEFF]|\uFE0F/gu;

/**
 * Parses slash text as phones and Slack deliver it: straight and curly quotes, long dashes instead of `--`,
 * `<url|label>` (read as the label), `<@U…|name>` (read as the id), `&amp; &lt; &gt;`, and named words such as
 * `sort:bandwidth` or `--sort=bandwidth`. Never throws.
 */
export function parseWords(raw: string): Words {
  return toWords(raw, readTokens(splitPieces(raw.slice(0, maxLength).replace(invisible, ''))));
}

export function toWords(raw: string, tokens: readonly Token[]): Words {
  const pairs = tokens.flatMap(({ name, value }) => (name === undefined ? [] : [[name, value] as const]));
  return {
    raw,
    tokens,
    list: tokens.filter(({ name }) => name === undefined).map(({ value }) => value),
    quoted: tokens.filter(({ name }) => name === undefined).map(({ quoted = false }) => quoted),
    named: Object.fromEntries(pairs),
    pairs,
    text: tokens.map(({ text }) => text).join(' '),
  };
}

/** The words without the first plain one, which named the command. */
export function withoutFirst({ raw, tokens }: Words): Words {
  const first = tokens.findIndex(({ name }) => name === undefined);
  return toWords(
    raw,
    tokens.filter((_, at) => at !== first),
  );
}

function readTokens(pieces: readonly Piece[]): Token[] {
  const tokens: Token[] = [];
  let waiting: Token | undefined;
  for (const { typed, text: written, quoted } of pieces) {
    const text = quoted ? written : normalizeDashes(written);
    if (waiting) {
      tokens.push({
        ...waiting,
        typed: `${waiting.typed} ${typed}`,
        text: `${waiting.text} ${text}`,
        value: text,
      });
      waiting = undefined;
      continue;
    }
    const [, key, value = ''] = (!quoted && /^(?:--)?([a-z][a-z-]*)(?::(?!\/\/)|=)(.*)$/iu.exec(text)) || [];
    const name = key?.toLowerCase();
    if (name === undefined) tokens.push({ typed, text, value: text, quoted });
    // Autocorrection turns `sort:name` into `sort: name`.
    else if (value === '') waiting = { typed, text, name, value };
    else tokens.push({ typed, text, name, value: stripQuotes(value) });
  }
  return waiting ? [...tokens, waiting] : tokens;
}

function splitPieces(text: string): Piece[] {
  const found: Piece[] = [];
  let at = 0;
  while (at < text.length) {
    const char = text.charAt(at);
    if (/\s/u.test(char)) {
      at += 1;
      continue;
    }
    const end = findClosingQuote(text, at);
    if (end !== undefined) {
      const typed = text.slice(at + 1, end);
      found.push({ typed, text: decodeMarkup(typed), quoted: true });
      at = end + 1;
      continue;
    }
    const word = readWord(text, at);
    found.push({ typed: word, text: decodeMarkup(word), quoted: false });
    at += word.length;
  }
  return found.filter((piece) => piece.quoted || piece.text !== '');
}

/** The index of the quote that closes the one at `at`; undefined if none opens there or none closes before a space. */
function findClosingQuote(text: string, at: number): number | undefined {
  const closers = quotes[text.charAt(at)];
  if (closers === undefined) return undefined;
  for (let end = at + 1; end < text.length; end += 1) {
    const after = text.charAt(end + 1);
    if (closers.includes(text.charAt(end)) && (after === '' || /\s/u.test(after))) return end;
  }
  return undefined;
}

/** The word at `at`, up to the next space; `<…>` and `name:"…"` are not split. */
function readWord(text: string, at: number): string {
  const held = /[a-z-]+[:=](?:"[^"]*"|“[^”]*”)|(?:<[^<>]*>|\S)+/iuy;
  held.lastIndex = at;
  return held.exec(text)?.[0] ?? text.charAt(at);
}

/** Undoes Slack's markup. `&amp;` comes last, so that `&amp;lt;` becomes `&lt;`. */
function decodeMarkup(text: string): string {
  return text
    .replace(/<([@#!][^<>|]*)(?:\|[^<>]*)?>/gu, (_, id: string) => id.replace(/^(?:@|#|!subteam\^|!)/u, ''))
    .replace(/<([^<>|]+)\|([^<>]*)>/gu, (_, url: string, label: string) => label || url)
    .replace(/<([^<>|]+)>/gu, '$1')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');
}

/** Phones turn `--` into a long dash, and `-` between words into a short one. */
function normalizeDashes(text: string): string {
  return text.replaceAll('—', '--').replaceAll(/[–‑−]/gu, '-');
}

function stripQuotes(text: string): string {
  const inner = /^(?:"([^"]*)"|“([^”]*)”)$/u.exec(text);
  return inner ? (inner[1] ?? inner[2] ?? '') : text;
}
