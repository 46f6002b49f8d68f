import { findAddress } from '../csv/addresses.ts';
import type { Span } from './urls.ts';

const zero = 0x30;
const nine = 0x39;
const dot = 0x2e;
// An attacker has many addresses, and each in many spellings.
const mostKnown = 4_096;
/** No address is longer, with its zone and port. */
const longest = 80;

/**
 * Writes addresses in their one spelling, so that one with a port, in brackets or in capitals is counted with the
 * others. What gives a word its spelling changes the span; other words stay as they are.
 */
export function createAddressReader(): (word: Span) => void {
  const known = new Map<string, Buffer | undefined>();
  return (word) => {
    const { bytes, from, to } = word;
    if (to - from > longest || isPlain(word)) return;
    const text = Buffer.from(bytes.buffer, bytes.byteOffset + from, to - from).toString('latin1');
    let spelled = known.get(text);
    if (spelled === undefined && !known.has(text)) {
      const address = findAddress(text);
      spelled = address === undefined ? undefined : Buffer.from(address, 'latin1');
      if (known.size >= mostKnown) known.clear();
      known.set(text, spelled);
    }
    if (!spelled) return;
    word.bytes = spelled;
    word.from = 0;
    word.to = spelled.length;
  };
}

/** Nearly every address of a log: numbers with dots, none of them begun with a zero. */
function isPlain({ bytes, from, to }: Span): boolean {
  let before = dot;
  let isZero = false;
  for (let at = from; at < to; at += 1) {
    const byte = bytes[at] as number;
    if (byte !== dot && (byte < zero || byte > nine)) return false;
    if (isZero && byte !== dot) return false;
    isZero = byte === zero && before === dot;
    before = byte;
  }
  return true;
}
