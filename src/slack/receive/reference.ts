import { randomInt } from 'node:crypto';

// No letters and digits that look or sound alike: references are read aloud on the phone at night.
const alphabet = '23456789ABCDEFGHJKMNPQRSTVWXYZ';

/** What joins an answer to its line in the log: eight characters. */
export function makeReference(): string {
  return Array.from({ length: 8 }, () => alphabet[randomInt(alphabet.length)]).join('');
}
