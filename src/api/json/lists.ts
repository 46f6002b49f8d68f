import { yieldToEventLoop } from '../../lib/time.ts';
import { parseListWithExactIds } from '../http/bodies.ts';
import { isObject, readErrorBody } from '../http/errors.ts';
import type { Reply, Send } from '../http/request.ts';
import type { ParseList } from './batches.ts';
import { createCutter, type Outside } from './cutter.ts';

/** Bytes parsed between two pauses: some dozen zones, a quarter of a millisecond. */
const pieceLength = 65_536;

/**
 * Reads a list of any length while it arrives: `take` gets the elements one by one and returns false when it has enough.
 * Holds one piece at a time and pauses between pieces. Returns the document around the list, or undefined if `take` had
 * enough. Throws ApiError: `cut`, `unexpected`, or `refused` if the body says so.
 */
export async function readList(
  reply: Reply,
  member: string,
  pause: () => Promise<void>,
  take: (element: unknown) => boolean,
  parse?: ParseList,
): Promise<Outside | undefined> {
  const cutter = createCutter(member, parse);
  let isEmpty = true;
  let enough = false;
  // Spaces could keep a connection busy for ever: only an element or the end counts as progress.
  let patienceEnds = performance.now() + reply.patienceMs;
  for await (const chunk of reply.chunks()) {
    isEmpty = false;
    if (performance.now() > patienceEnds) throw reply.error('timeout');
    for (let at = 0; at < chunk.length; at += pieceLength) {
      let came = false;
      orElse('unexpected', () =>
        cutter.push(chunk.subarray(at, at + pieceLength), (element) => {
          came = true;
          if (!enough) enough = !take(element);
        }),
      );
      if (enough) return undefined;
      if (came) patienceEnds = performance.now() + reply.patienceMs;
      await pause();
    }
  }
  const outside = orElse(isEmpty ? 'unexpected' : 'cut', () => cutter.end());
  if (outside.found === 'nowhere' && !isEmptyList(outside.document, member))
    throw reply.wrongShape(outside.document);
  return outside;

  function orElse<T>(code: 'unexpected' | 'cut', step: () => T): T {
    try {
      return step();
    } catch (error) {
      // The message of a SyntaxError would quote the document.
      throw error instanceof SyntaxError ? reply.error(code) : error;
    }
  }
}

/** Null stands for an empty list, except beside a refusal. */
function isEmptyList(document: unknown, member: string): boolean {
  return isObject(document) && document[member] === null && readErrorBody(document).kind === 'none';
}

export interface PagedList {
  readonly operation: string;
  readonly address: string;
}

/** The largest page of the service, so the fewest requests. */
const pageLength = 1000;
/** Hides the delay of a real network without straining the service. */
const concurrentPages = 4;
/** A million elements: the bound for a service that always says "more". */
const maxPages = 1000;

export interface PageQuery {
  /** From 1: page 0 would be the plain array. */
  readonly page: number;
  readonly perPage: number;
  readonly search: string | undefined;
}

export interface Row<T> {
  /** Identifies the element. */
  readonly id: string;
  /** The part of it to keep, if any. */
  readonly kept: T | undefined;
}

/** Projects one raw element of a page; undefined if it is unreadable. */
export type Project<T> = (raw: unknown, page: number) => Row<T> | undefined;

/** True if a page needs no (further) reading after `rows` of its elements. */
export type Enough = (page: number, rows: number) => boolean;

export interface Page<T> {
  readonly rows: readonly Row<T>[];
  /** Unreadable elements. */
  readonly skipped: number;
  readonly total: number | undefined;
  /** More pages exist; undefined if the service does not say. */
  readonly more: boolean | undefined;
}

export interface Pages {
  readonly read: <T>(query: PageQuery, project: Project<T>, enough?: Enough) => Promise<Page<T>>;
  /** All pages: every element once, in the service's order. */
  readonly readAll: <T>(
    search: string | undefined,
    project: Project<T>,
    enough?: Enough,
  ) => Promise<{ readonly kept: T[]; readonly skipped: number }>;
}

const never: Enough = () => false;

/**
 * A list, page by page. It always asks for a page, since the service may send everything without one, and accepts the
 * envelope and the plain array.
 */
export function createPages(send: Send, list: PagedList): Pages {
  function read<T>(query: PageQuery, project: Project<T>, enough: Enough = never): Promise<Page<T>> {
    const { page, perPage, search } = query;
    const request = {
      ...list,
      method: 'GET',
      query: { page, perPage, ...(search ? { search } : {}) },
      isRead: true,
    } as const;
    return send(request, async (reply) => {
      const rows: Row<T>[] = [];
      let skipped = 0;
      const take = (raw: unknown) => {
        const row = project(raw, page);
        if (row) rows.push(row);
        else skipped += 1;
        return !enough(page, rows.length);
      };
      const outside = await readList(reply, 'Items', yieldToEventLoop, take, parseListWithExactIds);
      if (!outside) return { rows, skipped, total: undefined, more: true };
      // A plain array holds everything, whatever the page.
      if (outside.found === 'top') return { rows, skipped, total: rows.length + skipped, more: false };
      return { rows, skipped, ...readEnvelope(outside.document) };
    });
  }

  async function readAll<T>(
    search: string | undefined,
    project: Project<T>,
    enough: Enough = never,
  ): Promise<{ kept: T[]; skipped: number }> {
    const seen = new Set<string>();
    const kept: T[] = [];
    let skipped = 0;
    const get = (page: number, isOver: Enough = enough) =>
      read({ page, perPage: pageLength, search }, project, isOver);

    /** Adds a page; true if the next one is worth reading. */
    function add(page: Page<T>): boolean {
      const before = seen.size;
      skipped += page.skipped;
      for (const { id, kept: row } of page.rows) {
        if (seen.has(id)) continue;
        seen.add(id);
        if (row !== undefined) kept.push(row);
      }
      // An empty page or only known elements: a service that goes in circles never says that it ends.
      if (seen.size === before) return false;
      const length = page.rows.length + page.skipped;
      return (
        page.more ?? (page.total === undefined ? length >= pageLength : seen.size + skipped < page.total)
      );
    }

    const first = await get(1);
    let goesOn = add(first);
    let page = 1;
    if (goesOn && first.total !== undefined) {
      // The service may send shorter pages than requested, so the length of the first one counts.
      const length = first.rows.length + first.skipped;
      page = Math.min(Math.ceil(first.total / length), maxPages);
      for (const one of await readConcurrently(2, page, get, enough)) goesOn = add(one);
    }
    while (goesOn && page < maxPages && !enough(page + 1, 0)) {
      page += 1;
      goesOn = add(await get(page));
    }
    return { kept, skipped };
  }

  return { read, readAll };
}

/** Pages `from` to `to` in order, a few at once. If one fails, the others stop at their next element. */
async function readConcurrently<T>(
  from: number,
  to: number,
  get: (page: number, isOver: Enough) => Promise<Page<T>>,
  enough: Enough,
): Promise<Page<T>[]> {
  const pages: Page<T>[] = [];
  let next = from;
  let failed = false;
  const isOver: Enough = (page, rows) => failed || enough(page, rows);
  async function work(): Promise<void> {
    while (next <= to && !isOver(next, 0)) {
      const page = next;
      next += 1;
      pages[page - from] = await get(page, isOver).catch((error: unknown) => {
        failed = true;
        throw error;
      });
    }
  }
  await Promise.all(Array.from({ length: concurrentPages }, work));
  return pages;
}

function readEnvelope(document: unknown): { total: number | undefined; more: boolean | undefined } {
  const envelope = isObject(document) ? document : {};
  const total = envelope['TotalItems'];
  const more = envelope['HasMoreItems'];
  return {
    total: typeof total === 'number' && total >= 0 ? total : undefined,
    more: typeof more === 'boolean' ? more : undefined,
  };
}
