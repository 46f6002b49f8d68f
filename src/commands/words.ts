/** The parsed text after the slash word. */
export interface Words {
  /** The original text. Never echoed or logged: it may hold anything. */
  readonly raw: string;
  /** The plain words in order: `zones "my shop" sort:name` → `zones`, `my shop`. */
  readonly list: readonly string[];
  /** Named words: `sort:name` → `{ sort: 'name' }`. Names are lower case; of a repeated one the last counts. */
  readonly named: Readonly<Record<string, string>>;
  /** Every named word in order, repeated ones too: `status:502 status:504`. */
  readonly pairs: readonly (readonly [name: string, value: string])[];
  /** All cleaned words, named ones included, joined by single spaces. */
  readonly text: string;
}

interface Piece {
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
  const list: string[] = [];
  const pairs: [name: string, value: string][] = [];
  const cleaned: string[] = [];
  let waiting: string | undefined;
  for (const piece of splitPieces(raw.slice(0, maxLength).replace(invisible, ''))) {
    const text = piece.quoted ? piece.text : normalizeDashes(piece.text);
    cleaned.push(text);
    if (waiting !== undefined) {
      pairs.push([waiting, text]);
      waiting = undefined;
      continue;
    }
    const name = piece.quoted ? undefined : /^(?:--)?([a-z][a-z-]*)(?::(?!\/\/)|=)(.*)$/iu.exec(text);
    const key = name?.[1]?.toLowerCase();
    if (key === undefined) list.push(text);
    // Autocorrection turns `sort:name` into `sort: name`.
    else if (name?.[2] === '') waiting = key;
    else pairs.push([key, stripQuotes(name?.[2] ?? '')]);
  }
  if (waiting !== undefined) pairs.push([waiting, '']);
  return { raw, list, named: Object.fromEntries(pairs), pairs, text: cleaned.join(' ') };
}

/** The words without the first plain one, which named the command. */
export function withoutFirst(words: Words): Words {
  const [first = '', ...list] = words.list;
  const at = words.text.indexOf(first);
  const text = `${words.text.slice(0, at)}${words.text.slice(at + first.length)}`
    .replace(/\s+/gu, ' ')
    .trim();
  return { ...words, list, text };
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
      found.push({ text: decodeMarkup(text.slice(at + 1, end)), quoted: true });
      at = end + 1;
      continue;
    }
    const word = readWord(text, at);
    found.push({ text: decodeMarkup(word), quoted: false });
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
