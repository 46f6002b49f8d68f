import { readText } from './command-harness.ts';

/** What people read, or what is read of it by a simulated person. */
type Readable = string | { readonly reads: string } | { readonly blocks?: readonly object[] } | undefined;

/**
 * The words of an answer for `toMatchSnapshot`: what differs from run to run is replaced by its kind. `values` are those
 * of the test itself (an id, a name, an amount), each replaced by its name.
 */
export function readStable(answer: Readable, values: Readonly<Record<string, string | number>> = {}): string {
  let text =
    typeof answer === 'string' ? answer : answer && 'reads' in answer ? answer.reads : readText(answer);
  const longestFirst = Object.entries(values).toSorted(
    ([, one], [, other]) => String(other).length - String(one).length,
  );
  for (const [name, value] of longestFirst)
    if (String(value) !== '') text = text.replaceAll(String(value), `<${name}>`);
  return text
    .replaceAll(/<!date\^[^|>]*\|[^>]*>/g, '<date>')
    .replaceAll(/\b[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}\b/g, '<uuid>')
    .replaceAll(/(seal )`?[\da-f]{12}`?/g, '$1<seal>')
    .replaceAll(/([Rr]eference:? )`?[\w-]{6,}`?/g, '$1<reference>')
    .replaceAll(/("reference":")[\w-]+/g, '$1<reference>')
    .replaceAll(/\b[\da-f]{32}\b/g, '<request>')
    .replaceAll(/\b\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d{3})?)?( UTC|Z)?)?/g, '<date>')
    .replaceAll(/\b(Mon|Tue|Wed|Thu|Fri|Sat|Sun) \d{1,2} [A-Z][a-z]{2}\b/g, '<date>')
    .replaceAll(/\b\d{2}:\d{2}(:\d{2})?\b/g, '<time>')
    .replaceAll(/http:\/\/127\.0\.0\.1:\d+/g, '<address>');
}
