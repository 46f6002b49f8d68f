import { yieldToEventLoop } from '../../lib/time.ts';
import { parseListWithExactIds } from '../http/bodies.ts';
import { isObject, readErrorBody } from '../http/errors.ts';
import type { Reply, Send } from '../http/request.ts';
import type { ParseList } from './batches.ts';
import { createCutter, type Outside } from './cutter.ts';

/** Bytes parsed between two looks at the clock: some dozen zones, a quarter of a millisecond. */
const pieceLength = 65_536;

/**
 * Reads a list of any length while it arrives: `take` gets one element after the other and returns false when it
 * has enough. Holds one piece at a time and lets other work in. Gives back what stands around the
 * list, or undefined where `take` had enough. Throws ApiError: `cut`, `unexpected`, or `refused` where the body says so.
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
  // Blanks that drip in keep a connection busy and an answer away: what counts is an element, or the end.
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
      // The cutter and JSON.parse say SyntaxError; its words would quote the document.
      throw error instanceof SyntaxError ? reply.error(code) : error;
    }
  }
}

/** Null may stand for any list (cdn-api.md §1.5), but not beside a refusal. */
function isEmptyList(document: unknown, member: string): boolean {
  return isObject(document) && document[member] === null && readErrorBody(document).kind === 'none';
}

export interface PagedList {
  readonly operation: string;
  readonly address: string;
}

/** The largest page the service gives, and so the fewest requests. */
const pageLength = 1000;
/** At once: hides a real network's delay without leaning on the service. */
const concurrentPages = 4;
/** A million elements. A service that says "more" even then is not telling the truth. */
const maxPages = 1000;

export interface PageQuery {
  /** From 1: page 0 would be the plain array. */
  readonly page: number;
  readonly perPage: number;
  readonly search: string | undefined;
}

export interface Row<T> {
  /** Tells elements apart. */
  readonly id: string;
  /** What is kept of it, if anything. */
  readonly kept: T | undefined;
}

/** What becomes of one element as it came, on which page; undefined where it is unreadable. */
export type Project<T> = (raw: unknown, page: number) => Row<T> | undefined;

/** Whether a page need not be read (any further), `rows` elements of it being read. */
export type Enough = (page: number, rows: number) => boolean;

export interface Page<T> {
  readonly rows: readonly Row<T>[];
  /** Elements that are unreadable. */
  readonly skipped: number;
  readonly total: number | undefined;
  /** Whether there is more; undefined where the service does not say. */
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
 * A list page by page (cdn-api.md §2.1, §2.2): always asks for a page, since without one the service may send
 * everything, and accepts the envelope and the plain array.
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
      // A plain array holds everything, whatever page was asked for.
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

    /** Takes a page in; whether it makes sense to ask for the one behind it. */
    function add(page: Page<T>): boolean {
      const before = seen.size;
      skipped += page.skipped;
      for (const { id, kept: row } of page.rows) {
        if (seen.has(id)) continue;
        seen.add(id);
        if (row !== undefined) kept.push(row);
      }
      // A page that is empty or brings only known ones: a service that goes in circles never says that it ends.
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
      // The service may give shorter pages than it was asked for: what the first one held counts.
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

/** Pages `from` to `to`, a few at once, in order. Where one fails, the others stop at their next element. */
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
