import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { StateValues } from './element-state.ts';
import type { StoredFile } from './files.ts';
import type { StoredMessage } from './messages.ts';
import type { Simulation } from './simulation.ts';
import { isObject } from './world.ts';

const pauseMs = 300;
const mostMessages = 1000;

interface Kept {
  readonly messages: readonly (Omit<StoredMessage, 'state'> & {
    readonly state: readonly (readonly [string, StateValues])[];
  })[];
  readonly files: readonly (Omit<StoredFile, 'install'> & { readonly install: string })[];
}

/**
 * Restores the messages of an earlier run from a file, and writes the newest 1,000 to it soon after each change. Open
 * modals and response_urls end with a run, as their triggers do. `close` writes once more.
 */
export async function keepMessages(
  sim: Pick<Simulation, 'messages' | 'files' | 'installs' | 'onChange'>,
  path: string,
): Promise<{ close(): Promise<void> }> {
  const kept = await read(path);
  sim.messages.restore(kept.messages.map((one) => ({ ...one, state: new Map(one.state) })));
  sim.files.restore(
    kept.files.flatMap(({ install: id, ...file }) => {
      const install = sim.installs.byId(id);
      return install ? [{ ...file, install }] : [];
    }),
  );

  let timer: NodeJS.Timeout | undefined;
  let writing = Promise.resolve();
  const write = async (): Promise<void> => {
    // As in Slack: what one person alone saw is gone.
    const messages = sim.messages
      .all()
      .filter(({ ephemeralFor }) => ephemeralFor === undefined)
      .slice(-mostMessages);
    const shown = new Set(messages.flatMap(({ files }) => files));
    const whole: Kept = {
      messages: messages.map((one) => ({ ...one, state: [...one.state] })),
      files: sim.files
        .completed()
        .filter(({ id }) => shown.has(id))
        .map((file) => ({ ...file, install: file.install.id })),
    };
    await mkdir(dirname(path), { recursive: true });
    await writeFile(`${path}.new`, JSON.stringify(whole), { mode: 0o600 });
    // A process that dies while it writes leaves the older file whole.
    await rename(`${path}.new`, path);
  };
  const save = (): Promise<void> => {
    timer = undefined;
    writing = writing.then(write);
    return writing;
  };
  const stop = sim.onChange(() => {
    timer ??= setTimeout(() => void save(), pauseMs);
  });
  return {
    async close() {
      stop();
      clearTimeout(timer);
      await save();
    },
  };
}

async function read(path: string): Promise<Kept> {
  const text = await readFile(path, 'utf8').catch(() => undefined);
  const parsed: unknown = text === undefined ? undefined : JSON.parse(text);
  return isObject(parsed) ? (parsed as unknown as Kept) : { messages: [], files: [] };
}
