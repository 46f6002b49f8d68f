import { type Answer, coreError } from './answer.ts';

const largest = 2_147_483_647;

/**
 * page and perPage of a list. Below 5 perPage is silently raised to 5 (as the live service does); above 1000 it is
 * refused, and so is everything that is not a whole number within the bounds. An empty value counts as absent.
 */
export function readPaging(
  query: URLSearchParams,
  first: { page: 0 | 1 },
): { page: number; perPage: number } | Answer {
  const page = wholeNumber(query.get('page'), first.page);
  const perPage = wholeNumber(query.get('perPage'), 1000);
  if (page === undefined || page < first.page || page > largest) {
    return coreError(400, 'validation_error', `page must be between 1 and ${largest}.`, 'page');
  }
  if (perPage === undefined || perPage > 1000) {
    return coreError(400, 'validation_error', 'perPage must be between 5 and 1000.', 'perPage');
  }
  return { page, perPage: Math.max(5, perPage) };
}

function wholeNumber(text: string | null, otherwise: number): number | undefined {
  if (text === null || text === '') return otherwise;
  return /^-?\d{1,15}$/.test(text) ? Number(text) : undefined;
}

/** The envelope around one page, without its Items. */
export const envelope = (page: number, perPage: number, total: number) => ({
  CurrentPage: page,
  TotalItems: total,
  HasMoreItems: page * perPage < total,
});
