import { parseWithExactIds } from '../../lib/canonical-json.ts';
import { yieldToEventLoop } from '../../lib/time.ts';
import { isObject } from './errors.ts';
import { type ApiRequest, maxParts, type Reply, type Send } from './request.ts';

/** Bytes of one list, decompressed: 50,000 zones have 300 MB. */
const maxListBytes = 1_000_000_000;
/** Bytes parsed between two pauses: some five zones, as many milliseconds where all of their settings are digested. */
const pieceLength = 32_768;

/** Reads a list of any length while it arrives, until `take` returns false. Returns the document around a whole list. */
export async function readList(
  reply: Reply,
  member: string,
  pause: () => Promise<void>,
  take: (element: unknown) => boolean,
): Promise<Outside | undefined> {
  const cutter = createCutter(member);
  let length = 0;
  let enough = false;
  // Spaces could keep a connection busy for ever: only an element or the end counts as progress. So could elements, one by one.
  const latestEnd = performance.now() + 10 * reply.patienceMs;
  let patienceEnds = performance.now() + reply.patienceMs;
  const takeOne = (element: unknown): void => {
    patienceEnds = performance.now() + reply.patienceMs;
    if (!enough) enough = !take(element);
  };
  // Accepted is not answered yet, and a part says nothing of the rest.
  if (reply.status === 202 || reply.status === 206) throw reply.error('unexpected');
  for await (const chunk of reply.chunks()) {
    length += chunk.length;
    if (length > maxListBytes) throw reply.error('too_large');
    if (performance.now() > Math.min(patienceEnds, latestEnd)) throw reply.error('timeout');
    for (let at = 0; at < chunk.length; at += pieceLength) {
      orElse('unexpected', () => cutter.push(chunk.subarray(at, at + pieceLength), takeOne));
      if (enough) return undefined;
      await pause();
    }
  }
  const outside = orElse(length === 0 ? 'unexpected' : 'cut', () => cutter.end());
  // Null means an empty list only if the answer counts no elements.
  const { found, document } = outside;
  const isEmpty = isObject(document) && document[member] === null && document['TotalItems'] === 0;
  if (found === 'nowhere' && !isEmpty) throw reply.wrongShape(document);
  return outside;

  function orElse<T>(code: 'unexpected' | 'cut', step: () => T): T {
    try {
      return step();
    } catch (error) {
      if (error === tooLarge) throw reply.error('too_large');
      // The message of a SyntaxError would quote the document.
      throw error instanceof SyntaxError ? reply.error(code) : error;
    }
  }
}

/** The largest page of the service, so the fewest requests. */
const pageLength = 1000;
/** Hides the delay of a real network without straining the service. */
const concurrentPages = 4;
/** Elements of one list: the bound for a service that always says "more", and for what is held in memory. */
const maxElements = 250_000;
const maxPages = maxElements / pageLength;
/** So many elements may be read without a turn. */
const unreserved = 5_000;

type Project<T> = (raw: unknown, reply: Reply) => T | undefined;

type Enough = (count: number) => boolean;

export type TakeTurn = <T>(elements: number, work: () => Promise<T>) => Promise<T>;

/** A list, page by page. The service may answer with the envelope or with a plain array of everything. */
export function createPages(
  send: Send,
  list: Pick<ApiRequest, 'operation' | 'path' | 'query'>,
  takeTurn: TakeTurn = (_, work) => work(),
) {
  /** One page, from 1 on. `skipped`: unreadable elements; `total` and `more` are undefined if the service does not say. */
  function read<T>(
    query: { readonly page: number; readonly perPage: number; readonly search: string | undefined },
    project: Project<T>,
    enough: Enough = () => false,
  ) {
    const request = { ...list, query: { ...list.query, ...query, search: query.search || undefined } };
    return send(request, async (reply) => {
      const kept: T[] = [];
      let skipped = 0;
      const take = (raw: unknown) => {
        const element = project(raw, reply);
        if (element === undefined) skipped += 1;
        else kept.push(element);
        if (kept.length > maxElements) throw reply.error('too_large');
        return !enough(kept.length);
      };
      const outside = await readList(reply, 'Items', yieldToEventLoop, take);
      if (!outside) return { kept, skipped, total: undefined, more: true };
      if (outside.found === 'top') return { kept, skipped, total: kept.length + skipped, more: false };
      const { TotalItems: total, HasMoreItems: more } = outside.document as Readonly<Record<string, unknown>>;
      return {
        kept,
        skipped,
        total: typeof total === 'number' && total >= 0 ? total : undefined,
        more: typeof more === 'boolean' ? more : undefined,
      };
    });
  }

  /**
   * All pages: every id once, in the service's order. `enough` ends the reading; `skipped` counts what is unreadable, and what the
   * service says that it has and did not send.
   */
  async function readAll<T extends { readonly id: string }>(
    search: string | undefined,
    project: Project<T>,
    enough: Enough = () => false,
  ): Promise<{ kept: T[]; skipped: number }> {
    const kept = new Map<string, T>();
    let skipped = 0;
    let total = 0;
    let hasFailed = false;
    const get = (page: number, most = maxElements) => {
      const isEnough: Enough = (count) => hasFailed || count > most || enough(count);
      return read({ page, perPage: pageLength, search }, project, isEnough).catch((error: unknown) => {
        hasFailed = true;
        throw error;
      });
    };
    const add = (page: Awaited<ReturnType<typeof get>>): boolean => {
      const before = kept.size;
      skipped += page.skipped;
      total = Math.min(page.total ?? total, maxElements);
      for (const element of page.kept) if (!kept.has(element.id)) kept.set(element.id, element);
      const isFull = page.kept.length + page.skipped >= pageLength;
      const more = page.more ?? (page.total === undefined ? isFull : kept.size + skipped < page.total);
      // An empty page or only known elements: a service that goes in circles never says that it ends.
      return more && kept.size > before;
    };

    const first = await get(1, unreserved);
    // A service that does not page sends all at once: a long list is read again, in its turn.
    const isAll = first.kept.length > unreserved;
    let goesOn = isAll || add(first);
    const known = Math.ceil(total / Math.max(1, first.kept.length + first.skipped));
    if (goesOn)
      // Where no total is known the list waits until no other is read.
      await takeTurn(total > kept.size ? total : maxElements, async () => {
        if (isAll) goesOn = add(await get(1));
        for (let next = 2; goesOn && next <= maxPages && !enough(0); ) {
          const count = Math.max(1, Math.min(concurrentPages, known - next + 1));
          const pages = await Promise.all(Array.from({ length: count }, (_, nth) => get(next + nth)));
          for (const page of pages) goesOn = add(page);
          next += count;
        }
      });
    if (!enough(0)) skipped += Math.max(0, total - kept.size - skipped);
    return { kept: [...kept.values()], skipped };
  }

  return { read, readAll };
}

const quote = 0x22;
const comma = 0x2c;
const openArray = 0x5b;
const backslash = 0x5c;
const closeArray = 0x5d;
const openObject = 0x7b;
const closeObject = 0x7d;
const [listStart, listEnd] = [Buffer.of(openArray), Buffer.of(closeArray)];

export interface Outside {
  readonly found: 'top' | 'member' | 'nowhere';
  readonly document: unknown;
}

/** Bytes of one element: a zone has some 6 kB. A larger one would fill the heap when it is parsed. */
export const maxElementBytes = 2_000_000;
export const tooLarge = new SyntaxError('An element is too large, or has too many parts.');
const maxOutsideBytes = 64_000;
// Neither a list nor an object; a string may still begin like a web page of a proxy.
const otherStart = /^[\s\u00ef\u00bb\u00bf]*[^\s\u00ef\u00bb\u00bf[{"]/u;

/** The next comma, bracket or brace outside of texts; `place` moves behind it. Not in the closure, which would be slower by half. */
function findMark(chunk: Uint8Array, place: { at: number; isText: boolean }): number | undefined {
  let { at, isText } = place;
  let mark: number | undefined;
  for (; at < chunk.length && mark === undefined; at += 1) {
    const byte = chunk[at] as number;
    // Digits, colons and capitals.
    if (byte > comma && byte < openArray) continue;
    if (isText) {
      if (byte === quote) isText = false;
      else if (byte === backslash) at += 1;
    } else if (byte === quote) isText = true;
    else if (byte === comma || byte === openArray || byte === openObject) mark = byte;
    else if (byte === closeArray || byte === closeObject) mark = byte;
  }
  place.at = at;
  place.isText = isText;
  return mark;
}

/** Cuts a JSON document (a list, or an object with a list in `member`) into elements while it arrives. @throws SyntaxError */
export function createCutter(member: string) {
  const memberStart = new RegExp(`[{,]\\s*"${member}"\\s*:\\s*\\[$`, 'u');
  let found: Outside['found'] = 'nowhere';
  let depth = 0;
  let listDepth = 0;
  let hasElements = false;
  /** Within the current element. */
  let parts = 0;
  /** Between two pieces `at` is 1 where the last one ended with a backslash, else 0. */
  const place = { at: 0, isText: false };
  /** Of the first element that has not ended. */
  let pending: Buffer = Buffer.alloc(0);
  /** In latin1, a character a byte. */
  let outside = '';

  function parseElements(bytes: Buffer, isEnd: boolean, take: (element: unknown) => void): void {
    const json = Buffer.concat([listStart, pending, bytes, listEnd]).toString('utf8');
    pending = Buffer.alloc(0);
    const elements = parseWithExactIds(json) as unknown[];
    if (elements.length === 0 && (hasElements || !isEnd)) throw new SyntaxError('An element is empty.');
    hasElements = true;
    for (const element of elements) take(element);
  }

  function keepOutside(bytes: Buffer): void {
    outside += bytes.toString('latin1');
    if (outside.length > maxOutsideBytes) throw new SyntaxError('Too much text surrounds the list.');
    // Most likely a web page, which is not read any further.
    if (otherStart.test(outside)) throw new SyntaxError('The document is neither a list nor an object.');
  }

  return {
    push(input: Uint8Array, take: (element: unknown) => void): void {
      const chunk = Buffer.from(input.buffer, input.byteOffset, input.byteLength);
      let start = 0;
      let border = -1;
      for (let mark = findMark(chunk, place); mark !== undefined; mark = findMark(chunk, place)) {
        const { at } = place;
        if (mark === comma) {
          parts += 1;
          if (parts > maxParts) throw tooLarge;
          if (depth !== listDepth) continue;
          border = at - 1;
          parts = 0;
        } else if (mark === openArray || mark === openObject) {
          depth += 1;
          if (listDepth > 0 || mark === openObject || depth > 2) continue;
          keepOutside(chunk.subarray(start, at));
          start = at;
          if (depth > 1 && !memberStart.test(outside.slice(-200))) continue;
          found = depth === 1 ? 'top' : 'member';
          listDepth = depth;
        } else {
          if (listDepth > 0 && depth === listDepth) {
            parseElements(chunk.subarray(start, at - 1), true, take);
            listDepth = 0;
            start = at - 1;
          }
          depth -= 1;
        }
      }
      place.at -= chunk.length;
      if (listDepth === 0) return keepOutside(chunk.subarray(start));
      if (border >= start) {
        parseElements(chunk.subarray(start, border), false, take);
        start = border + 1;
      }
      pending = Buffer.concat([pending, chunk.subarray(start)]);
      if (pending.length > maxElementBytes) throw tooLarge;
    },
    end(): Outside {
      // A TextDecoder drops a byte order mark, which JSON.parse would refuse.
      const text = new TextDecoder().decode(Buffer.from(outside, 'latin1'));
      return { found, document: JSON.parse(text) };
    },
  };
}
