import { isObject } from '../json.ts';

const texts = new Set([
  'text',
  'title',
  'subtitle',
  'caption',
  'alt_text',
  'label',
  'body',
  'description',
  'author_name',
  'fallback',
]);

/** The characters of text in blocks, without ids, values and addresses. */
export function textLength(value: unknown): number {
  if (Array.isArray(value)) return value.reduce((sum: number, item) => sum + textLength(item), 0);
  if (!isObject(value)) return 0;
  return Object.entries(value).reduce(
    (sum, [member, inner]) =>
      sum + (typeof inner === 'string' ? (texts.has(member) ? inner.length : 0) : textLength(inner)),
    0,
  );
}
