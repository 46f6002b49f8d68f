import { toPlainSigns } from '../lib/names.ts';

export interface Words {
  /** Never echoed or logged: it may hold anything. */
  readonly raw: string;
  readonly tokens: readonly Token[];
  /** `zones "my shop" sort:name` → `zones`, `my shop`. */
  readonly list: readonly string[];
  /** By word of `list`; a quoted word is a name. */
  readonly quoted?: readonly boolean[];
  /** `sort:name` → `{ sort: 'name' }`, lower case; the last of repeated ones counts. */
  readonly named: Readonly<Record<string, string>>;
  /** With repeated ones: `status:502 status:504`. */
  readonly pairs: readonly (readonly [name: string, value: string])[];
  /** All words, cleaned. */
  readonly text: string;
}

export interface Token {
  /** With Slack's markup: `<#C0OPS|ops>`. */
  readonly typed: string;
  /** Without markup and quotes: `sort:name`. */
  readonly text: string;
  readonly name?: string;
  /** Behind the name, if there is one. */
  readonly value: string;
  readonly quoted?: boolean;
}

interface Piece {
  readonly typed: string;
  readonly text: string;
  /** Then neither a name nor a dash is special. */
  readonly quoted: boolean;
}

/** What opens a quote, and what closes it. */
const quotes = new Map(
  `"" '' \`\` “”“" ””" „“”" ‟” «» »« ‹› ›‹ ‘’‘' ’’' ‚‘’' ＂＂ ＇＇ 「」 『』 《》 〈〉 〝〞〟`
    .split(' ')
    .map(([opening = '', ...closing]) => [opening, closing.join('')]),
);

const marks = [...quotes].flat().join('');
/** `<…>` and `name:"…"` are not split. */
const unsplit = new RegExp(`[a-z-]+[:=][${marks}][^${marks}]*[${marks}](?!\\S)|(?:<[^<>]*>|\\S)+`, 'iuy');

/** Keeps parsing fast whatever is pasted. */
const maxLength = 4000;

/** From web pages, and around names in chats of mixed directions. */
const invisible = /[\u00AD\u200B-\u200F\u202A-\u202E\u2060-\u2064\u2066-\u2069\uFEFF]|\uFE0F/gu;

/** As phones and Slack deliver it: curly quotes, long dashes, markup, `sort:bandwidth` or `--sort=bandwidth`. */
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

/** The first one named the command. */
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
    const text = quoted ? written : toPlainSigns(written);
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
  /** Quotes that nothing closes from here on. */
  const unclosed = new Set<string>();
  let at = 0;
  while (at < text.length) {
    const char = text.charAt(at);
    if (/\s/u.test(char)) {
      at += 1;
      continue;
    }
    const end = unclosed.has(char) ? undefined : findClosingQuote(text, at);
    if (end === undefined) unclosed.add(char);
    else {
      const typed = text.slice(at + 1, end);
      found.push({ typed, text: decodeMarkup(typed), quoted: true });
      at = end + 1;
      continue;
    }
    const word = readWord(text, at);
    found.push({ typed: word, text: decodeMarkup(word), quoted: false });
    at += word.length;
  }
  // `errors → shop`
  return found.filter(({ quoted, text }) => quoted || !/^(?:|[-=]*[→➜>])$/u.test(text));
}

/** Undefined if no quote opens there or none closes before a space. */
function findClosingQuote(text: string, at: number): number | undefined {
  const closers = quotes.get(text.charAt(at));
  if (closers === undefined) return undefined;
  for (let end = at + 1; end < text.length; end += 1) {
    const after = text.charAt(end + 1);
    if (closers.includes(text.charAt(end)) && (after === '' || /\s/u.test(after))) return end;
  }
  return undefined;
}

function readWord(text: string, at: number): string {
  unsplit.lastIndex = at;
  return unsplit.exec(text)?.[0] ?? text.charAt(at);
}

/** `&amp;` comes last, so that `&amp;lt;` becomes `&lt;`. */
function decodeMarkup(text: string): string {
  return text
    .replace(/<([@#!][^<>|]*)(?:\|[^<>]*)?>/gu, (_, id: string) => id.replace(/^(?:@|#|!subteam\^|!)/u, ''))
    .replace(/<([^<>|]+)\|([^<>]*)>/gu, (_, url: string, label: string) => label || url)
    .replace(/<([^<>|]+)>/gu, '$1')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');
}

function stripQuotes(text: string): string {
  return inQuotes.exec(text)?.[1] ?? text;
}

const inQuotes = new RegExp(`^[${marks}]([^${marks}]*)[${marks}]$`, 'u');

/** Before a line: bullets, numbers, quotes, arrows, emoji, other people, a greeting, the bot’s own name. */
const before = new RegExp(
  [
    '(?:[-*+•◦▪☐☑–—→➜$]|#{1,4}|#\\d{1,2}|\\[[ x]?\\]|[(\\[]?\\d{1,2}[.):/\\]-]|\\d\\uFE0F?\\u20E3|[a-z]\\)|[ivx]{1,4}[.)])\\s+',
    '(?:[-•◦▪–—→➜$]|\\d{1,2}(?:[):\\]]|\\.(?=[a-z-]+(?:\\s|$))))(?=[a-z])',
    '(?:&gt;|>|:[\\w+-]+:|\\p{Extended_Pictographic}|\\uFE0F|[,:;])+\\s*',
    '<@[UW][A-Z0-9]+(?:\\|[^<>]*)?>[\\s,:]*',
    '[/@]?cdn(?:[\\s,:/]+|$)',
    '(?:hey|hi|hello|good (?:morning|afternoon|evening)|dear|bot|ok|okay|fyi|thanks|thank you|please|pls|(?:can|could|would) you)[\\s,:!]+(?=\\S)',
  ]
    .map((one) => `^${one}`)
    .join('|'),
  'iu',
);
/** Behind a line: thanks, and the end of a sentence. */
const behind =
  /[\s,–—-]+(?:please|pls|thanks|thank you|thx)[.!]*$|\s+(?::[\w+-]+:|\p{Extended_Pictographic}|\uFE0F)+$|(?<=[^\s.!?,;…])[.!?,;…]+$/iu;
/** Around a line: code, quotes and brackets; around words: bold, italics and strikethrough. */
const around = new RegExp(
  `^(?:\`\`\`([^${marks}]+)\`\`\`|[${marks}]([^${marks}]+)[${marks}]|[([]([^()[\\]]+)[)\\]])$`,
  'u',
);
const emphasis = /(?<=^|\s)(?<mark>[*_~]+)(?<inner>[^\s*~](?:[^*~]*[^\s*~])?)\k<mark>(?=[\s,!?]|$)/gu;

// These patterns look at each character of a line many times: a thousand took 0.4 s, layer by layer.
const longestDecorated = 1_000;
const mostLayers = 20;

/** Takes away how people address the bot, greet it and decorate a line. */
export function stripDecoration(line: string): string {
  if (line.length > longestDecorated) return line;
  let words = line;
  for (let last = '', layer = 0; last !== words && layer < mostLayers; layer += 1) {
    last = words;
    words = words
      .replace(before, '')
      .replace(around, '$1$2$3')
      .replace(emphasis, '$<inner>')
      .replace(/(?<=^|\s)_([*~][^_]+[*~])_(?=[\s,!?]|$)/gu, '$1')
      .replace(behind, '')
      // `errors,shop`, `errors: shop`
      .replace(/^([a-z]+)(?:\s*[,;，、]\s*|:\s+)(?=\S)/iu, '$1 ')
      .trim();
  }
  return words;
}
