import { spawn } from 'node:child_process';
import { once } from 'node:events';

export type BotProcess = ReturnType<typeof startBotProcess>;

/** The bot as people start it, built: a process of its own, driven through its environment only. */
export function startBotProcess(
  env: Readonly<Record<string, string>>,
  word = 'all',
  more: readonly string[] = [],
) {
  const child = spawn(process.execPath, ['dist/bot/main.js', word, ...more], {
    env: { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let printed = '';
  const waiting = new Set<() => void>();
  const take = (chunk: Buffer): void => {
    printed += chunk.toString('utf8');
    for (const look of waiting) look();
  };
  child.stdout.on('data', take);
  child.stderr.on('data', take);
  const exited = once(child, 'close').then(([code]: (number | null)[]) => code ?? null);

  return {
    child,
    exited,
    output: () => printed,
    /** Waits for words in what it prints. */
    async waitForOutput(words: string | RegExp, timeoutMs = 60_000): Promise<string> {
      const isThere = (): boolean =>
        typeof words === 'string' ? printed.includes(words) : words.test(printed);
      const { promise, resolve, reject } = Promise.withResolvers<string>();
      const look = (): void => {
        if (isThere()) resolve(printed);
      };
      const timer = setTimeout(() => reject(new Error(`waited for ${words}, saw:\n${printed}`)), timeoutMs);
      waiting.add(look);
      look();
      const ended = exited.then(() =>
        isThere() ? printed : Promise.reject(new Error(`it ended; saw:\n${printed}`)),
      );
      try {
        return await Promise.race([promise, ended]);
      } finally {
        clearTimeout(timer);
        waiting.delete(look);
      }
    },
    /** Ends it and waits until it is gone. */
    async kill(signal: NodeJS.Signals) {
      child.kill(signal);
      return exited;
    },
  };
}
