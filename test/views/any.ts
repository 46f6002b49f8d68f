import * as fc from 'fast-check';
import type { Message } from '../../src/views/blocks/blocks.ts';
import { replaceNativeBlocks } from '../../src/views/blocks/native.ts';
import { findMessageProblems } from '../support/slack-limits.ts';

/** Texts that Slack would trip over: markup, entities, quotes, line breaks, nothing at all, and much. */
export const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.constantFrom(
    '',
    ' ',
    '<!channel>',
    '<https://a.example|b>',
    '&lt;@U1&gt;',
    '&amp;',
    '`',
    '*bold*',
    'a\nb',
  ),
  fc.constantFrom('```', '&'.repeat(60), '<'.repeat(60), '😀'.repeat(60)),
);

/** The same, and far too much. */
export const longText = fc.oneof(
  { weight: 5, arbitrary: text },
  fc.constantFrom('&'.repeat(2100), '<'.repeat(400), '😀'.repeat(400)),
);

export const number = fc.oneof(
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.constantFrom(0, -1, 1e15),
);

export const maybe = <T>(inner: fc.Arbitrary<T>) => fc.option(inner, { nil: undefined });

/** A few, or many. */
export const list = <T>(of: fc.Arbitrary<T>, most: number) =>
  fc.oneof(fc.array(of, { maxLength: 3 }), fc.array(of, { maxLength: most, size: 'max' }));

/** What Slack would not take of a message, drawn and in words. */
export function findProblems(message: Message): string[] {
  const inWords = { ...message, blocks: replaceNativeBlocks(message.blocks ?? []) };
  return [...findMessageProblems(message), ...findMessageProblems(inWords)];
}
