import { encodingsOf, isDistinctive, wholeEncodings } from './encodings.ts';
import { knownSecrets, type NotedSecret, type NotedSecrets } from './secret.ts';

/** The kinds of live secrets that a text contains in any encoding; kinds that may leave now do not count. */
export function findSecretKinds(text: string): readonly string[] {
  const kinds = new Set<string>();
  search(text, ({ kind }) => kinds.add(kind));
  return [...kinds];
}

/**
 * The same for a piece of a file, byte by byte: nothing is decoded, since a file is looked through as fast as it comes.
 */
export function findSecretKindsInBytes(bytes: Uint8Array): readonly string[] {
  const { lists, carried } = knownSecrets();
  const kinds = new Set<string>();
  for (const list of lists) {
    if (list.length === 0) continue;
    const index = indexOf(list);
    scanBytes(index, bytes, (nth) => {
      const secret = list[index.places[nth] ?? -1];
      if (secret && !carried.has(secret.kind)) kinds.add(secret.kind);
    });
  }
  return [...kinds];
}

// Longer than any encoding of a secret.
const overlap = 256;

/** Scans a file piece by piece, in order. Returns the kinds of the live secrets that each piece completes. */
export function createFileScanner(): (piece: Uint8Array) => readonly string[] {
  let before = Buffer.alloc(0);
  return (piece) => {
    const kinds = findSecretKindsInBytes(piece);
    // A secret may begin in one piece and end in the next.
    const seam = Buffer.concat([before, piece.subarray(0, overlap)]);
    const across = before.length > 0 ? findSecretKindsInBytes(seam) : [];
    before = Buffer.from(
      piece.length < overlap ? seam.subarray(-overlap) : piece.subarray(piece.length - overlap),
    );
    return kinds.length > 0 ? kinds : across;
  };
}

/** The text without the live secrets that are in it. */
export function redactSecrets(text: string): string {
  const found = new Set<string>();
  search(text, ({ value }) => found.add(value));
  return found.size === 0 ? text : maskValues(text, [...found]);
}

/** The text without these values, in any spelling; those of one to three characters stay. */
export function redactValues(text: string, values: readonly string[]): string {
  return maskValues(
    text,
    values.filter((value) => value.length > 3),
  );
}

function maskValues(text: string, values: readonly string[]): string {
  const lower = text.toLowerCase();
  const whole = values.flatMap(wholeEncodings);
  const pieces = values.flatMap(encodingsOf);
  // Whole values first, longest first. The rest are cut or encoded, and are masked with the word they are part of.
  const patterns = [
    ...byLength(whole).map(literally),
    ...byLength(pieces).map((form) => `${wordStart}${word}${literally(form)}${word}`),
  ];
  const forms = [...byLength(whole), ...byLength(pieces)];
  return patterns
    .filter((_, nth) => lower.includes(forms[nth] ?? ''))
    .reduce((left, pattern) => left.replaceAll(new RegExp(pattern, 'gi'), '[secret]'), text);
}

const word = '[\\w+/=-]*';
// Tried from each character of a long word, the work would grow with the square of its length.
const wordStart = '(?<![\\w+/=-])';

function byLength(forms: readonly string[]): string[] {
  return [...new Set(forms)].sort((one, other) => other.length - one.length);
}

function literally(form: string): string {
  return form.replaceAll(/[^\w\s]/gu, String.raw`\$&`);
}

function search(text: string, found: (secret: NotedSecret) => void): void {
  const { lists, carried } = knownSecrets();
  let lower: string | undefined;
  for (const list of lists) {
    if (list.length === 0) continue;
    lower ??= text.toLowerCase();
    const index = indexOf(list);
    scan(index, lower, (nth) => {
      const secret = list[index.places[nth] ?? -1];
      if (secret && !carried.has(secret.kind)) found(secret);
    });
  }
}

/** All forms of a list of secrets, to be found by any of their first runs of four characters. */
interface Index {
  /** How many secrets of the list are in. */
  done: number;
  readonly forms: string[];
  /** By form: the place in the list of the secret it is of. */
  readonly places: number[];
  /** One bit a hash: nearly every place of a text is passed by a look at it. */
  readonly may: Uint32Array;
  /** By hash: `longestStride` times the form, plus how far into it the run begins. */
  readonly runs: Map<number, number[]>;
  /**
   * A text is looked at every so many characters: no more than the shortest form has runs, and that many of its first
   * ones are in, so that one of them is met wherever it stands. It may become less, never more.
   */
  stride: number;
}

const hashBits = 16;
const runLength = 4;
// Keys and tokens have forms of 24 characters and more: files of hundreds of megabytes are looked through for them.
const longestStride = 16;
/** Of the shortest form there is, six long. With many forms the runs would fill the table. */
const shortestStride = 3;
const manyForms = 200;

// Most of their content is no secret; the secrets in them are registered one by one.
const documents = new Set(['installation', 'installation-user']);

const indexes = new WeakMap<NotedSecrets, Index>();

/**
 * Lists only grow, so an index is made once and goes on. One pass over the text whatever the number of secrets:
 * looking for each form by itself takes 3 µs a form in a message of 10 kB, and twenty secrets have over a hundred.
 */
function indexOf(list: NotedSecrets): Index {
  let index = indexes.get(list);
  if (!index) {
    index = {
      done: 0,
      forms: [],
      places: [],
      may: new Uint32Array(2 ** hashBits / 32),
      runs: new Map(),
      stride: longestStride,
    };
    indexes.set(list, index);
  }
  for (; index.done < list.length; index.done += 1) {
    const { kind = '', value = '' } = list[index.done] ?? {};
    if (documents.has(kind) || !isDistinctive(value)) continue;
    for (const form of encodingsOf(value)) add(index, form);
    // As it stands in a file, where signs beyond ASCII are several bytes.
    const inBytes = Buffer.from(value).toString('latin1');
    if (inBytes !== value) for (const form of encodingsOf(inBytes)) add(index, form);
  }
  return index;
}

function add(index: Index, form: string): void {
  const { done, forms, places, may, runs } = index;
  const nth = forms.push(form) - 1;
  places.push(done);
  const most = nth < manyForms ? form.length - runLength + 1 : shortestStride;
  index.stride = Math.min(index.stride, most);
  for (let offset = 0; offset < index.stride; offset += 1) {
    const hash = hashAt(form, offset);
    const run = nth * longestStride + offset;
    const known = mayBe(may, hash) ? runs.get(hash) : undefined;
    may[hash >>> 5] = (may[hash >>> 5] as number) | (1 << (hash & 31));
    if (known) known.push(run);
    else runs.set(hash, [run]);
  }
}

function scan({ forms, may, runs, stride }: Index, text: string, found: (nth: number) => void): void {
  const last = text.length - runLength;
  for (let at = 0; at <= last; at += stride) {
    const hash = hashAt(text, at);
    if (!mayBe(may, hash)) continue;
    for (const run of runs.get(hash) ?? []) {
      const start = at - (run % longestStride);
      const nth = Math.floor(run / longestStride);
      if (start >= 0 && text.startsWith(forms[nth] ?? '', start)) found(nth);
    }
  }
}

/** Like `scan`, as if every byte were a character (Latin 1) and small. */
function scanBytes(
  { forms, may, runs, stride }: Index,
  bytes: Uint8Array,
  found: (nth: number) => void,
): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const last = bytes.length - runLength;
  for (let at = 0; at <= last; at += stride) {
    const hash = hashOf(view.getInt32(at, true));
    if (!mayBe(may, hash)) continue;
    for (const run of runs.get(hash) ?? []) {
      const start = at - (run % longestStride);
      const nth = Math.floor(run / longestStride);
      if (start >= 0 && standsAt(bytes, start, forms[nth] ?? '')) found(nth);
    }
  }
}

/** By byte: the same letter, small. */
const small = Uint8Array.from({ length: 256 }, (_, byte) =>
  String.fromCharCode(byte).toLowerCase().charCodeAt(0),
);

function standsAt(bytes: Uint8Array, start: number, form: string): boolean {
  if (start + form.length > bytes.length) return false;
  for (let nth = 0; nth < form.length; nth += 1)
    if (small[bytes[start + nth] as number] !== form.charCodeAt(nth)) return false;
  return true;
}

function hashAt(text: string, at: number): number {
  return hashOf(
    (text.charCodeAt(at) & 0xff) |
      ((text.charCodeAt(at + 1) & 0xff) << 8) |
      ((text.charCodeAt(at + 2) & 0xff) << 16) |
      (text.charCodeAt(at + 3) << 24),
  );
}

// The bit that tells small letters from capital ones, in each of four bytes.
const smallLetters = 0x20202020;

/** Hashes four characters regardless of case. Others that differ in that bit only are told apart when compared. */
function hashOf(four: number): number {
  return Math.imul(four | smallLetters, 0x9e3779b1) >>> (32 - hashBits);
}

function mayBe(may: Uint32Array, hash: number): boolean {
  return (((may[hash >>> 5] as number) >>> (hash & 31)) & 1) === 1;
}
