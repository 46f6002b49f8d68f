import type { OriginError } from './origin-errors.ts';

export const filterKinds = ['code', 'status', 'path', 'in'] as const;
export type FilterKind = (typeof filterKinds)[number];

/** Which entries are meant: of the values of one kind any, of different kinds each. */
export type Filters = Readonly<Partial<Record<FilterKind, readonly string[]>>>;

type Test = (entry: OriginError) => boolean;

/** A test of entries, for half a million of them: what does not depend on the entry is prepared once. */
export function createFilter(filters: Filters): Test {
  const tests = filterKinds.flatMap((kind) => {
    const values = filters[kind];
    return values === undefined || values.length === 0 ? [] : [createTest[kind](values)];
  });
  return (entry) => tests.every((test) => test(entry));
}

const createTest: Readonly<Record<FilterKind, (values: readonly string[]) => Test>> = {
  // People call a status a code, too.
  code(values) {
    const [byCode, byStatus] = [
      isOneOf(values, ({ errorCode }) => errorCode),
      isOneOf(values, ({ statusCode }) => statusCode?.toString()),
    ];
    return (entry) => byCode(entry) || byStatus(entry);
  },
  status: (values) => {
    const beginnings = values.map((status) => status.toLowerCase().replace(/x+$/u, ''));
    return ({ statusCode }) =>
      statusCode !== undefined &&
      statusCode > 99 &&
      statusCode < 1000 &&
      beginnings.some((beginning) => String(statusCode).startsWith(beginning));
  },
  path: (values) => {
    const patterns = values.map(createPathTest);
    return (entry) => {
      const path = entry.path();
      return path !== undefined && patterns.some((matches) => matches(path));
    };
  },
  in: (values) => isOneOf(values, ({ serverZone }) => serverZone),
};

function isOneOf(values: readonly string[], read: (entry: OriginError) => string | undefined): Test {
  const wanted = new Set(values.map((value) => value.toLowerCase()));
  return (entry) => wanted.has(read(entry)?.toLowerCase() ?? '');
}

/** `/img/` is the beginning of a path, `/img/*.png` all of it. No regular expression: many `*` would make it slow. */
function createPathTest(wanted: string): (path: string) => boolean {
  const hasHost = !/^[/*]/u.test(wanted);
  const [first = '', ...others] = wanted.split('*');
  const last = others.pop();
  return (path) => {
    const address = path.replace(/^[a-z][a-z\d+.-]*:\/\//iu, '');
    const rest = hasHost ? address : address.slice(Math.max(0, address.indexOf('/')));
    if (!rest.startsWith(first)) return false;
    if (last === undefined) return true;
    let at = first.length;
    for (const part of others) {
      const found = rest.indexOf(part, at);
      if (found === -1) return false;
      at = found + part.length;
    }
    return rest.length - last.length >= at && rest.endsWith(last);
  };
}
