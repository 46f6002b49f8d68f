import { createHash } from 'node:crypto';

/**
 * A short mark of what an answer showed, for its Refresh button: whoever refreshes gets the text of now in its place,
 * and the picture or file once more only where it would be another one.
 */
export function contentHash(shown: unknown): string {
  return createHash('sha256').update(JSON.stringify(shown)).digest('base64url').slice(0, 10);
}
