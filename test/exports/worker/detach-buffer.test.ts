import { expect, test } from 'vitest';
import { detachBuffer } from '../../../src/exports/worker/detach-buffer.ts';

test('a buffer with memory of its own is empty afterwards; one that shares its memory is left alone', () => {
  const alone = Buffer.allocUnsafeSlow(70_000);
  detachBuffer(alone);
  expect(alone.buffer.byteLength).toBe(0);

  const whole = Buffer.from('a piece and its neighbour');
  detachBuffer(whole.subarray(0, 7));
  expect(whole.toString()).toBe('a piece and its neighbour');

  const shared = new Uint8Array(new SharedArrayBuffer(10)).fill(7);
  detachBuffer(shared);
  expect([...shared]).toEqual(Array.from({ length: 10 }, () => 7));
});
