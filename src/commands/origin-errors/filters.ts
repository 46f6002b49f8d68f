import { type FilterKind, type Filters, filterKinds } from '../../api/origin-errors/filters.ts';
import { UserError } from '../../errors.ts';
import { formatCode } from '../../views/blocks/text.ts';
import { countFilters, maxFilters } from '../../views/origin-errors/question.ts';
import { quoteWord } from '../../views/zones/rows.ts';
import { findClosest } from '../did-you-mean.ts';
import type { Words } from '../words.ts';

const examples: Readonly<Record<FilterKind, string>> = {
  code: 'code:http_timeout',
  status: 'status:502` or `status:5xx',
  path: 'path:/img/*',
  in: 'in:DE',
};

/**
 * Parses `code:http_timeout status:5xx path:/img/* in:DE`; commas separate values of one kind. Throws a UserError for
 * another word with a colon, and for a value that none can have; it offers the words that were probably meant.
 */
export function readFilters(words: Words): Filters {
  const wrong = words.pairs.find(([name]) => name !== 'show' && !isFilter(name));
  if (wrong) throw createNameError(wrong[0], words);
  return readFilterPairs(words.pairs);
}

/** Other names are not read. @throws UserError */
export function readFilterPairs(pairs: Iterable<readonly [name: string, value: string]>): Filters {
  const found: Partial<Record<FilterKind, string[]>> = {};
  for (const [kind, typed] of pairs) {
    if (!isFilter(kind)) continue;
    // A comma may be a part of a path.
    const values = kind === 'path' ? [typed] : typed.split(',');
    for (const value of values) {
      const read = readValue[kind](value.trim());
      if (read === undefined) throw createValueError(kind, value.trim());
      if (!found[kind]?.includes(read)) (found[kind] ??= []).push(read);
    }
  }
  if (countFilters(found) <= maxFilters) return found;
  throw new UserError(
    `These filters are longer than the ${maxFilters} characters that a button of the answer can hold.`,
    'Type fewer, or the beginning of a path: `path:/img/*`.',
  );
}

function isFilter(name: string): name is FilterKind {
  return filterKinds.some((kind) => kind === name);
}

function createValueError(kind: FilterKind, value: string): UserError {
  return new UserError(
    value === ''
      ? `Nothing stands behind \`${kind}:\`.`
      : `${formatCode(`${kind}:${value}`, 60)} is in no origin error.`,
    `Type it like \`${examples[kind]}\`.`,
  );
}

const readValue: Readonly<Record<FilterKind, (typed: string) => string | undefined>> = {
  code: (typed) => (/^[\w.-]{1,100}$/u.test(typed) ? typed.toLowerCase() : undefined),
  status: (typed) => (/^[1-9](?:\d\d|\dx|xx)$/iu.test(typed) ? typed.toLowerCase() : undefined),
  path: readPath,
  in: (typed) => (/^[\w-]{1,20}$/u.test(typed) ? typed.toUpperCase() : undefined),
};

/** Pasted addresses come with a scheme and a query; a folder may come without its first slash. */
function readPath(typed: string): string | undefined {
  const path = typed.replace(/^[a-z][a-z\d+.-]*:\/\//iu, '').replace(/[?#].*$/u, '');
  if (path === '' || /\s/u.test(path)) return undefined;
  return /^[/*]/u.test(path) || /^[^/]+\.[^/]+\//u.test(path) ? path : `/${path}`;
}

function createNameError(name: string, words: Words): UserError {
  const known = [...filterKinds, 'show'];
  const [near] = findClosest(name, known, 1);
  return new UserError(
    `\`/cdn errors\` does not know ${formatCode(`${name}:`, 40)}.`,
    near
      ? `Did you mean \`${near}:\`?`
      : `It knows ${filterKinds.map((kind) => `\`${examples[kind]}\``).join(', ')}.`,
    near ? [{ label: `With ${near}:`, types: writeWith(words, name, near) }] : undefined,
  );
}

/** The same words with another name of a filter. */
function writeWith({ list, pairs }: Words, wrong: string, right: string): string {
  const filters = pairs.map(([name, value]) => `${name === wrong ? right : name}:${quoteWord(value)}`);
  return ['errors', ...list.map(quoteWord), ...filters].join(' ');
}
