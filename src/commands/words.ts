/** What somebody typed after the slash word, parsed once. */
export interface Words {
  /** As it arrived. Never echoed or logged: it may hold anything. */
  readonly raw: string;
  /** The plain words in order: `zones "my shop" sort:name` → `zones`, `my shop`. */
  readonly list: readonly string[];
  /** The named ones: `sort:name` → `{ sort: 'name' }`. Names are lower case. */
  readonly named: Readonly<Record<string, string>>;
  /** Everything cleaned, named words included, joined by single spaces. */
  readonly text: string;
}

interface Piece {
  readonly text: string;
  /** Quoted words are meant literally: neither a name nor a dash in them is special. */
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

/** What stands behind is not read: no command takes as much, and reading stays quick whatever is pasted. */
const longest = 4000;

/** Invisible characters that copying brings along: from web pages, and around names in chats of mixed directions. */
const invisible = /[\u00AD\u200B-\u200F\u202A-\u202E\u2060-\u2064\u2066-\u2069\uFEFF]|\uFE0F/gu;

/**
 * Reads slash text the way phones and Slack deliver it: straight and curly quotes, dashes that a keyboard made
 * of `--`, `<url|label>` and `<@U…|name>` (the label stands for a link, the id for a person or channel),
 * `&amp; &lt; &gt;`, and named words such as `sort:bandwidth` or `--sort=bandwidth`. Never throws.
 */
export function parseWords(raw: string): Words {
  const list: string[] = [];
  const named: Record<string, string> = {};
  const cleaned: string[] = [];
  let waiting: string | undefined;
  for (const piece of pieces(raw.slice(0, longest).replace(invisible, ''))) {
    const text = piece.quoted ? piece.text : dashes(piece.text);
    cleaned.push(text);
    if (waiting !== undefined) {
      named[waiting] = text;
      waiting = undefined;
      continue;
    }
    const name = piece.quoted ? undefined : /^(?:--)?([a-z][a-z-]*)(?::(?!\/\/)|=)(.*)$/iu.exec(text);
    const key = name?.[1]?.toLowerCase();
    if (key === undefined) list.push(text);
    // `sort: name`, which autocorrection makes of `sort:name`
    else if (name?.[2] === '') waiting = key;
    else named[key] = unquoted(name?.[2] ?? '');
  }
  if (waiting !== undefined) named[waiting] = '';
  return { raw, list, named, text: cleaned.join(' ') };
}

/** The same words without the first plain one: what a command gets of what was typed. */
export function withoutFirst(words: Words): Words {
  const [first = '', ...list] = words.list;
  const at = words.text.indexOf(first);
  const text = `${words.text.slice(0, at)}${words.text.slice(at + first.length)}`
    .replace(/\s+/gu, ' ')
    .trim();
  return { ...words, list, text };
}

function pieces(text: string): Piece[] {
  const found: Piece[] = [];
  let at = 0;
  while (at < text.length) {
    const char = text.charAt(at);
    if (/\s/u.test(char)) {
      at += 1;
      continue;
    }
    const end = quotedUntil(text, at);
    if (end !== undefined) {
      found.push({ text: decoded(text.slice(at + 1, end)), quoted: true });
      at = end + 1;
      continue;
    }
    const word = wordAt(text, at);
    found.push({ text: decoded(word), quoted: false });
    at += word.length;
  }
  return found.filter((piece) => piece.quoted || piece.text !== '');
}

/** Where the quote that opens at `at` closes; undefined when none opens there or it never closes before a space. */
function quotedUntil(text: string, at: number): number | undefined {
  const closers = quotes[text.charAt(at)];
  if (closers === undefined) return undefined;
  for (let end = at + 1; end < text.length; end += 1) {
    const after = text.charAt(end + 1);
    if (closers.includes(text.charAt(end)) && (after === '' || /\s/u.test(after))) return end;
  }
  return undefined;
}

/** One word from `at`: up to the next space, where `<…>` and `name:"…"` hold together. */
function wordAt(text: string, at: number): string {
  const held = /[a-z-]+[:=](?:"[^"]*"|“[^”]*”)|(?:<[^<>]*>|\S)+/iuy;
  held.lastIndex = at;
  return held.exec(text)?.[0] ?? text.charAt(at);
}

/** Slack's markup undone. Its three entities come last, `&amp;` after the others, so that `&amp;lt;` stays `&lt;`. */
function decoded(text: string): string {
  return text
    .replace(/<([@#!][^<>|]*)(?:\|[^<>]*)?>/gu, (_, id: string) => id.replace(/^(?:@|#|!subteam\^|!)/u, ''))
    .replace(/<([^<>|]+)\|([^<>]*)>/gu, (_, url: string, label: string) => label || url)
    .replace(/<([^<>|]+)>/gu, '$1')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');
}

/** Phones turn `--` into a long dash, and `-` between words into a short one. */
function dashes(text: string): string {
  return text.replaceAll('—', '--').replaceAll(/[–‑−]/gu, '-');
}

function unquoted(text: string): string {
  const inner = /^(?:"([^"]*)"|“([^”]*)”)$/u.exec(text);
  return inner ? (inner[1] ?? inner[2] ?? '') : text;
}
