import { expect, test } from 'vitest';
import { readHeader } from '../../../../src/commands/exports/csv/columns.ts';

test.each([
  ['timestamp,action,ip,url', { time: 0, addresses: [2], subjects: { action: 1, ip: 2, url: 3 } }],
  ['Rule ID,Country_Code,Datetime', { time: 2, addresses: [], subjects: { country: 1, rule: 0 } }],
  ['remote_addr,request_uri,X-Real-IP', { addresses: [0, 2], subjects: { ip: 0, url: 1 } }],
  ['visitorIp,peer address,ClientIPv6,zip,recipe', { addresses: [0, 2], subjects: {} }],
  [' "Action" ,whatever', { addresses: [], subjects: { action: 0 } }],
])('%s is a header', (line, { subjects, ...expected }) => {
  const found = readHeader(line.split(','));
  expect(found).toMatchObject(expected);
  expect(Object.fromEntries(found?.subjects ?? [])).toEqual(subjects);
});

test.each([
  'a,b,c',
  '2026-11-20T10:00:00Z,action,ip',
  'blocked,203.0.113.7,url',
  'blocked,2001:db8::1,url',
  'blocked,[2001:db8::1]:443,url',
  '1764000000000,action',
  '/login,action',
  'https://shop.example/,action',
  'Mozilla/5.0 (X11; Linux x86_64),action',
  '',
])('%s is no header that is recognized', (line) => {
  expect(readHeader(line.split(','))).toBeUndefined();
});
