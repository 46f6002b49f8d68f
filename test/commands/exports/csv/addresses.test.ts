import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { replaceAddresses } from '../../../../src/commands/exports/csv/columns.ts';

const markAddresses = (text: string): string => replaceAddresses(text, (address) => `<${address}>`);

test.each([
  ['203.0.113.7', '<203.0.113.7>'],
  ['from 203.0.113.7.', 'from <203.0.113.7>.'],
  ['203.0.113.7:8080, 10.0.0.1', '<203.0.113.7>:8080, <10.0.0.1>'],
  ['/login?ip=203.0.113.7&a=1', '/login?ip=<203.0.113.7>&a=1'],
  ['http://203.0.113.7/x', 'http://<203.0.113.7>/x'],
  ['/1.2.3.4/img', '/<1.2.3.4>/img'],
  ['10.0.0.1.nip.io', '<10.0.0.1>.nip.io'],
  ['010.001.000.255', '<10.1.0.255>'],
  ['2001:db8::1', '<2001:db8::1>'],
  ['2001:0DB8:0:0:0:0:0:1', '<2001:db8::1>'],
  ['[2001:db8::1]:443', '[<2001:db8::1>]:443'],
  ['2001:db8:0:0:0:0:0:1:443', '<2001:db8::1>:443'],
  ['2001:db8::1: refused', '<2001:db8::1>: refused'],
  ['2001:db8::1.', '<2001:db8::1>.'],
  ['client:2001:db8::1', 'client:<2001:db8::1>'],
  ['2001:db8::/32', '<2001:db8::>/32'],
  ['fe80::1%eth0', '<fe80::1>%eth0'],
  ['::1', '<::1>'],
  ['::ffff:203.0.113.7', '<203.0.113.7>'],
  ['/?ip=2001%3Adb8%3a%3A1&b', '/?ip=<2001:db8::1>&b'],
  ['{"ip":"2001:db8::1"}', '{"ip":"<2001:db8::1>"}'],
  ['203.0.113.7:1:2', '<203.0.113.7>:1:2'],
])('in %s addresses are found', (text, expected) => {
  expect(markAddresses(text)).toBe(expected);
});

test.each([
  'Mozilla/5.0 Chrome/131.0.0.0 Safari/537.36',
  '2026-11-20T10:15:30.123Z',
  '10:15:30',
  'std::string::npos',
  'a :: b',
  '1.2.3',
  '256.1.1.1',
  '1.3.6.1.4.1',
  'aa:bb:cc:dd:ee:ff',
  '1234.5.6.7',
])('in %s there is none', (text) => {
  expect(markAddresses(text)).toBe(text);
});

test('any address is found in any text around it', () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.ipV4(), fc.ipV6()),
      fc.constantFrom('', ' ', 'x=', '"', '[', '(', 'a/', 'ip: ', ','),
      fc.constantFrom('', ' ', '"', ']', ')', '/', '?', ' a', ',', '. '),
      (address, before, behind) => {
        fc.pre(address !== '::' && !address.endsWith('.0.0'));
        const [found = '', ...more] = markAddresses(`${before}${address}${behind}`).split('<');
        expect(found).toBe(before);
        expect(more).toEqual([expect.stringMatching(/^[\da-f.:]+>/u)]);
      },
    ),
    { numRuns: 500 },
  );
});
