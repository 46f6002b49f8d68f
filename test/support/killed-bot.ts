import { startCdn } from '../../simulator/cdn/server.ts';
import { startSlack } from '../../simulator/slack/server.ts';
import type { Secret } from '../../src/secrets/secret.ts';
import { generateKeys } from '../auth/keyring/keyrings.ts';
import { connect, environment } from './bot.ts';
import { type BotProcess, startBotProcess } from './process.ts';

export type KilledBot = Awaited<ReturnType<typeof prepareKilledBot>>;

/** Both simulators, and a built bot beside them that is killed and started again. */
export async function prepareKilledBot(
  { dataDir, databaseUrl }: { readonly dataDir: string; readonly databaseUrl: Secret | undefined },
  options: {
    readonly zones?: number;
    readonly env?: Readonly<Record<string, string>>;
    readonly slack?: Parameters<typeof startSlack>[0];
  } = {},
) {
  const [slack, cdn] = await Promise.all([
    startSlack(options.slack),
    startCdn({ zones: options.zones ?? 5 }),
  ]);
  const env: Record<string, string> = {
    ...environment({ slack, cdn, dataDir }),
    ENCRYPTION_KEYS: generateKeys('k1'),
    ...(databaseUrl ? { DATABASE_URL: databaseUrl.reveal() } : {}),
    ...options.env,
  };
  const processes: BotProcess[] = [];
  const kill = async (signal: NodeJS.Signals = 'SIGKILL') => processes.at(-1)?.kill(signal);
  /** Starts a process without waiting for it, with these variables beside its own. */
  const begin = (more: Readonly<Record<string, string>> = {}): BotProcess => {
    const bot = startBotProcess({ ...env, ...more });
    processes.push(bot);
    return bot;
  };
  const start = async (connections = 1, more?: Parameters<typeof begin>[0]): Promise<BotProcess> => {
    const bot = begin(more);
    await bot.waitForOutput('"ready"');
    await slack.socket.waitFor(connections);
    return bot;
  };
  return {
    slack,
    cdn,
    env,
    begin,
    start,
    kill,
    killAndRestart: async (): Promise<void> => {
      await kill();
      await start();
    },
    output: () => processes.map((bot) => bot.output()).join(''),
    connect: (userId: string, channelId: string) => connect({ slack, cdn, env }, userId, channelId),
    stop: async (): Promise<void> => {
      await kill('SIGTERM');
      await Promise.all([slack.close(), cdn.close()]);
    },
  };
}
