import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { requestControl, serveControl } from '../../src/app/control-socket.ts';
import { UserError } from '../../src/errors.ts';
import { createMemoryLog } from '../support/engines.ts';
import { createTempDirectory } from '../support/temp-directory.ts';

const createStore = async () => ({ databaseUrl: undefined, dataDir: await createTempDirectory() });

test('a command is run by the process that listens, and its refusal arrives in words', async () => {
  const store = await createStore();
  const printed: string[] = [];
  const request = (word: string) => requestControl(store, ['keys', word], (line) => void printed.push(line));
  expect(await request('status')).toBe(false);
  const commands = {
    keys: async ([word = '']: readonly string[], print: (line: string) => void) => {
      if (word === 'no') throw new UserError('Refused.', 'Ask again.');
      print(`did ${word}`);
    },
    doctor: () => Promise.reject(new Error('it was not asked for')),
  };
  const close = await serveControl(store, commands, createMemoryLog());
  expect(await request('status')).toBe(true);
  expect(printed).toEqual(['did status']);
  await expect(request('no')).rejects.toMatchObject({ message: 'Refused.', hint: 'Ask again.' });
  await close();
  expect(await request('status')).toBe(false);
});

test.each<[string, (response: ServerResponse) => void]>([
  ['before it answers', (response) => response.destroy()],
  ['between two lines', (response) => response.write('{"line":"one"}\n', () => response.destroy())],
  ['within a line', (response) => response.write('{"line":"one"}\n{"li', () => response.destroy())],
  ['without a last line', (response) => response.end('{"line":"one"}\n')],
])('a bot that ends %s is told as that, not as a stack', async (_when, die) => {
  const store = await createStore();
  const path = join(store.dataDir, 'control', 'socket');
  await mkdir(dirname(path));
  const server = createServer((request, response) => {
    request.resume();
    die(response);
  });
  await once(server.listen(path), 'listening');
  const refused: unknown = await requestControl(store, ['keys', 'rewrap'], () => undefined).catch(
    (error: unknown) => error,
  );
  server.close();
  expect(refused).toBeInstanceOf(UserError);
  expect(String(refused)).toMatchInlineSnapshot(`"UserError: The running bot ended before it was done."`);
});
