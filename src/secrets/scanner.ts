import { findKnownSecrets, isDoubtful, type NotedSecret, type NotedSecrets } from './secret.ts';

/** The kinds of live keys and tokens that a text or a piece of a file contains, in any encoding. */
export function findSecretKinds(data: string | Uint8Array): readonly string[] {
  const live = findSecrets(data).filter((secret) => !isDoubtful(secret));
  return [...new Set(live.map(({ kind }) => kind))];
}

const overlap = 256;

/** Scans a file piece by piece. Returns the kinds of live secrets that each piece completes. */
export function createFileScanner(): (piece: Uint8Array) => readonly string[] {
  let before = Buffer.alloc(0);
  return (piece) => {
    const kinds = findSecretKinds(piece);
    const seam = Buffer.concat([before, piece.subarray(0, overlap)]);
    before = Buffer.from(
      piece.length < overlap ? seam.subarray(-overlap) : piece.subarray(piece.length - overlap),
    );
    return kinds.length > 0 ? kinds : findSecretKinds(seam);
  };
}

export function redactSecrets(text: string): string {
  return redactFound(text, findSecrets(text));
}

/** The content without doubtful values in any of its texts. */
export function redactDoubtful<T>(content: T): T {
  if (!findKnownSecrets().lists.some((list) => list.some(isDoubtful))) return content;
  return mapTexts(content, (text) => redactFound(text, findSecrets(text).filter(isDoubtful))) as T;
}

function redactFound(text: string, found: readonly NotedSecret[]): string {
  return maskValues(text, [...new Set(found.map(({ value }) => value))]);
}

export function mapTexts(value: unknown, map: (text: string) => string): unknown {
  if (typeof value === 'string') return map(value);
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, map));
  if (value === null || value === undefined || Object.getPrototypeOf(value) !== Object.prototype)
    return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [map(name), mapTexts(one, map)]));
}

/** All texts of a value, joined. */
export function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'bigint') return String(value);
  if (typeof value !== 'object' || value === null) return '';
  if (ArrayBuffer.isView(value))
    return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('latin1');
  if (value instanceof URLSearchParams) return [...value.values()].join('\n');
  if (Array.isArray(value)) return value.map(textOf).join('\n');
  if ('toJSON' in value && typeof value.toJSON === 'function') return textOf(value.toJSON());
  return Object.entries(value)
    .map(([name, member]) => `${name}\n${textOf(member)}`)
    .join('\n');
}

/** The text without these values of more than three characters. */
export function redactValues(text: string, values: readonly string[]): string {
  return maskValues(
    text,
    values.filter((value) => value.length > 3),
  );
}

const word = '[\\w+/=-]*';
// Tried from each character of a long word, the work would grow with the square of its length.
const wordStart = '(?<![\\w+/=-])';

function maskValues(text: string, values: readonly string[]): string {
  const lower = text.toLowerCase();
  // Whole values first. Pieces are masked with the word they are part of.
  const spelled = values.flatMap(listEscapedForms).map((form) => form.toLowerCase());
  const whole = byLength(spelled).map((form) => ({ form, pattern: literally(form) }));
  const pieces = byLength(values.flatMap(encodingsOf)).map((form) => ({
    form,
    pattern: `${wordStart}${word}${literally(form)}${word}`,
  }));
  return [...whole, ...pieces]
    .filter(({ form }) => lower.includes(form))
    .reduce((left, { pattern }) => left.replaceAll(new RegExp(pattern, 'gi'), '[secret]'), text);
}

function byLength(forms: readonly string[]): string[] {
  return [...new Set(forms)].sort((one, other) => other.length - one.length);
}

function literally(form: string): string {
  return form.replaceAll(/[^\w\s]/gu, String.raw`\$&`);
}

function findSecrets(data: string | Uint8Array): NotedSecret[] {
  const { lists, carried } = findKnownSecrets();
  const filled = lists.filter((list) => list.length > 0);
  if (filled.length === 0) return [];
  const isText = typeof data === 'string';
  const plain = isText ? Buffer.from(data) : data;
  const bytes = isText && plain.length > data.length ? Buffer.from(data.toLowerCase()) : plain;
  const found = new Set<NotedSecret>();
  for (const list of filled) scan(indexOf(list), bytes, found);
  return [...found].filter(({ kind }) => !carried.has(kind));
}

/** A form of a secret, to be found by one of its first runs of four characters. */
interface Form {
  readonly secret: NotedSecret;
  readonly text: string;
  readonly offset: number;
  readonly next: Form | undefined;
}

interface Index {
  done: number;
  readonly may: Uint32Array;
  readonly forms: Map<number, Form>;
}

const [hashBits, runLength] = [16, 4];
const stride = 3;

const documents = new Set(['installation', 'installation-user']);

const indexes = new WeakMap<NotedSecrets, Index>();

/** Lists only grow, so an index is made once and goes on. */
function indexOf(list: NotedSecrets): Index {
  const index = indexes.get(list) ?? { done: 0, may: new Uint32Array(2 ** hashBits / 32), forms: new Map() };
  indexes.set(list, index);
  const { may, forms } = index;
  for (const secret of list.slice(index.done)) {
    const { kind, value } = secret;
    index.done += 1;
    if (documents.has(kind) || !isDistinctive(value)) continue;
    // Signs beyond ASCII are several bytes. A text is made small before it becomes bytes, a file is not.
    const bytes = inBytes(value);
    const spelled = [...encodingsOf(value).map(inBytes), ...(bytes === value ? [] : encodingsOf(bytes))];
    for (const text of new Set(spelled.map((form) => form.toLowerCase()))) {
      for (let offset = 0; offset < stride; offset += 1) {
        const hash = hashOf(Buffer.from(text, 'latin1').readInt32LE(offset));
        may[hash >>> 5] = (may[hash >>> 5] as number) | (1 << (hash & 31));
        forms.set(hash, { secret, text, offset, next: forms.get(hash) });
      }
    }
  }
  return index;
}

function inBytes(text: string): string {
  return Buffer.from(text).toString('latin1');
}

function scan({ may, forms }: Index, bytes: Uint8Array, found: Set<NotedSecret>): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const last = bytes.length - runLength;
  for (let at = 0; at <= last; at += stride) {
    const hash = hashOf(view.getInt32(at, true));
    if ((((may[hash >>> 5] as number) >>> (hash & 31)) & 1) === 0) continue;
    for (let form = forms.get(hash); form; form = form.next)
      if (standsAt(bytes, at - form.offset, form.text)) found.add(form.secret);
  }
}

const small = Uint8Array.from({ length: 256 }, (_, byte) =>
  String.fromCharCode(byte).toLowerCase().charCodeAt(0),
);

function standsAt(bytes: Uint8Array, start: number, form: string): boolean {
  if (start < 0 || start + form.length > bytes.length) return false;
  for (let nth = 0; nth < form.length; nth += 1)
    if (small[bytes[start + nth] as number] !== form.charCodeAt(nth)) return false;
  return true;
}

const smallLetters = 0x20202020;

/** Hashes four characters regardless of case. */
function hashOf(four: number): number {
  return Math.imul(four | smallLetters, 0x9e3779b1) >>> (32 - hashBits);
}

const shortest = 6;

/** Whether this value can only be there by a leak: no plain word, number or host name. */
export function isDistinctive(value: string): boolean {
  if (value.length < shortest || isHost.test(value)) return false;
  if (value.length >= 16) return true;
  const mixesCases = /[a-z]/u.test(value) && /.[A-Z]/u.test(value);
  const kinds = [/[a-z]/iu, /\d/u, /[^\w\s.-]/u].filter((kind) => kind.test(value)).length;
  return kinds >= 2 || mixesCases;
}

const isHost = /^(?:https?:\/\/)?(?:[a-z\d-]+\.)+[a-z]{2,}\.?(?::\d+)?\/?$/iu;

/** The lower-case spellings of a secret: escaped, in base64 and hexadecimal; long ones in pieces, since half a key is a leak too. */
function encodingsOf(value: string): readonly string[] {
  const parts = piecesOf(value).filter(isDistinctive);
  const pieces = parts.length > 0 ? parts : [value];
  const spelled = [...pieces.flatMap(listEscapedForms), ...listEncodedForms(pieces[0] ?? value)];
  const forms = spelled.map((form) => form.toLowerCase());
  return forms.filter(
    (form, nth) => form.length >= Math.min(shortest, value.length) && forms.indexOf(form) === nth,
  );
}

const pieceLength = 24;
const mostPieces = 4;

/** A piece of each line that is long enough (certificates), or of a long value every third of it. */
function piecesOf(value: string): string[] {
  const lines = value
    .split(/[\r\n]+/u)
    .filter((line) => line.length >= pieceLength && !line.startsWith('-----'));
  if (lines.length > 1) return lines.slice(0, mostPieces).map((line) => line.slice(0, pieceLength));
  if (value.length < 2 * pieceLength - 8) return [value];
  const count = Math.min(mostPieces, Math.floor(value.length / 20));
  const step = (value.length - pieceLength) / (count - 1);
  return Array.from({ length: count }, (_, nth) => {
    const start = Math.floor(nth * step);
    return value.slice(start, start + pieceLength);
  });
}

function listEscapedForms(piece: string): string[] {
  if (/^[\w.-]*$/u.test(piece)) return [piece];
  const slack = piece.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  const once = quote(piece);
  const spelled = [piece, once, quote(once), slack];
  const form = new URLSearchParams({ v: piece }).toString().slice(2);
  return [
    ...spelled,
    quote(slack),
    slack.replaceAll('`', 'ˋ').replaceAll(/\s+/gu, ' '),
    slack.replaceAll('"', '&quot;').replaceAll("'", '&#39;'),
    form,
    encodeURIComponent(piece.toWellFormed()),
    new URLSearchParams({ v: once }).toString().slice(2),
    new URLSearchParams({ v: slack }).toString().slice(2),
  ];
}

function quote(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

function listEncodedForms(piece: string): string[] {
  const hex = Buffer.from(piece).toString('hex');
  const bytes = hex.length / 2;
  const base64 = ['', '\0', '\0\0'].map((before, offset) => {
    const encoded = Buffer.from(before + piece).toString('base64');
    return encoded.slice(Math.ceil((offset * 8) / 6), Math.floor(((offset + bytes) * 8) / 6));
  });
  return [hex, ...base64].flatMap((form) =>
    /[+/]/u.test(form)
      ? [form, form.replaceAll('+', '-').replaceAll('/', '_'), encodeURIComponent(form)]
      : form,
  );
}
