import { describe, expect, test } from 'vitest';
import { ApiError } from '../../src/api/errors.ts';
import { describeApiError } from '../../src/commands/api-failures.ts';
import { desk } from './person.ts';

// Every way an answer can fail, and what the person is told of it.
const failures = [
  [{ status: 401 }, 'The CDN refused your key.'],
  [{ status: 404, body: '' }, 'The CDN does not know this id.'],
  [{ status: 429, retryAfter: 900 }, 'too many requests with your key'],
  [{ status: 500, body: '' }, 'The CDN has a problem of its own (HTTP 500).'],
  [{ body: 'html' as const }, 'something unreadable'],
  [{ drop: 'before-headers' as const }, 'cannot be reached'],
  [{ drop: 'mid-body' as const }, 'broke off in the middle'],
] as const;

describe.each(['app app0api00000001', 'scanning 501', 'keys'])('/cdn %s', (command) => {
  test.each(failures.map(([fault, words]) => [JSON.stringify(fault), fault, words] as const))(
    'when the CDN fails with %s a sentence says so',
    async (_, fault, words) => {
      await using office = await desk({ zones: 3 });
      office.cdn.faults.add({ ...fault, times: 50 });
      const error = await office
        .person()
        .says(command)
        .catch((error: unknown) => error);
      expect(error).toBeInstanceOf(ApiError);
      expect(describeApiError(error as ApiError).message).toContain(words);
    },
  );
});

test.each(['app app0api00000001', 'scanning 501'])(
  '/cdn %s takes no list for its answer',
  async (command) => {
    await using office = await desk({ zones: 3 });
    office.cdn.faults.add({ body: [] });
    await expect(office.person().says(command)).rejects.toMatchObject({ code: 'unexpected' });
  },
);
