import { isObject, readErrorBody } from '../http/error-bodies.ts';
import type { Reply } from '../http/request.ts';
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
