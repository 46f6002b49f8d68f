import { setTimeout as pause } from 'node:timers/promises';
import { findFreePort } from '../simulator/free-port.ts';
import { startPlayground } from '../simulator/playground.ts';
import { prepareAssistant } from '../simulator/prepare-assistant.ts';
import { createSignedFetch } from '../simulator/slack/assistant.ts';
import { createLogger } from '../src/telemetry/log.ts';
import { measureInTurns } from './measure/numbers.ts';
import { processorTime, residentMemory, startBot, withTempDirectory } from './measure/processes.ts';
import { formatMegabytes, formatMs, formatRatio, logProgress, reportFinding } from './measure/report.ts';
import { startSlack } from './measure/slack.ts';

// What the tools of Slack's assistant cost: start and memory with POST /mcp served and without, while nobody calls them;
// and how long a call takes beside the typed command, in the playground.
const rounds = 5;
/** Until the work after the start is over. */
const restMs = 5_000;
const list = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} });

await withTempDirectory(async (dataDir) => {
  const slack = await startSlack();
  const env: Record<string, string> = { ...slack.environment('http'), DATA_DIR: dataDir };
  const port = await findFreePort();
  const served = { ...env, PORT: String(port), PUBLIC_URL: `http://127.0.0.1:${port}` };
  const startMs: Record<string, number[]> = {};
  const send = createSignedFetch(env['SLACK_SIGNING_SECRET'] ?? '');
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };

  const measure = async (name: string, settings: Readonly<Record<string, string>>, calls = 0) => {
    const bot = await startBot(settings);
    const taken = await processorTime(bot.pid);
    (startMs[name] ??= []).push(taken);
    for (let nth = 0; nth < calls; nth += 1) {
      const answer = await send(`${served.PUBLIC_URL}/mcp`, { method: 'POST', headers, body: list });
      if (!(await answer.text()).includes('list_zones')) throw new Error(`no tools: ${answer.status}`);
    }
    await pause(restMs);
    const memory = await residentMemory(bot.pid);
    await bot.stop();
    logProgress(`${name}: ${formatMs(taken)}, ${formatMegabytes(memory)}`);
    return memory;
  };
  // Made and in the page cache before anything counts.
  await measure('warm', served);
  const memory = await measureInTurns(['without', 'at rest', 'asked'] as const, rounds, (name) =>
    measure(name, name === 'without' ? env : served, name === 'asked' ? 1 : 0),
  );
  // The least: whatever else runs on the machine only adds to it.
  const start = (name: string): number => Math.min(...(startMs[name] ?? []));
  report('processor time until ready with POST /mcp', formatMs, [start('at rest'), start('without')]);
  report('memory at rest with POST /mcp', formatMegabytes, [memory['at rest'], memory.without]);
  reportFinding({
    what: 'memory after one request of an assistant',
    bot: formatMegabytes(memory.asked),
    beside: `at rest: ${formatMegabytes(memory['at rest'])}`,
    ratio: `+${formatMegabytes(memory.asked - memory['at rest'])}`,
    goal: '',
    met: true,
  });
  await slack.close();
});

/** A tool with its arguments, beside the typed words that answer the same. */
const pairs = [
  { tool: 'list_zones', args: {}, words: 'zones', says: /^\d+ .*zones/u },
  { tool: 'list_origin_errors', args: { zone: 'shop' }, words: 'errors shop', says: /origin errors/u },
] as const;
/** With what warms up fewer calls than a person may make in a minute. */
const callsOfEach = 11;
const warmUps = 3;

await withTempDirectory(async (dataDir) => {
  const log = createLogger('silent');
  const playground = await startPlayground({ port: 0, http: true, assistant: true, dataDir, zones: 60, log });
  const { slack, botUrl } = playground;
  await prepareAssistant(playground);
  const assistant = slack.assistant('U0ALICE00', { origin: botUrl });
  const alice = slack.as('U0ALICE00', 'C0OPS0000');
  for (const { tool, args, words, says } of pairs) {
    const call = async () => {
      const { isError, text } = await assistant.call(tool, args);
      if (isError) throw new Error(text);
    };
    const type = async () => {
      const before = new Set(alice.messages().map(({ ts }) => ts));
      await alice.slash(words);
      await alice.waitForMessage(({ ts, reads }) => !before.has(ts) && says.test(reads));
    };
    for (let nth = 0; nth < warmUps; nth += 1) for (const work of [call, type]) await work();
    const taken = await measureInTurns(['tool', 'typed'] as const, callsOfEach, (name) =>
      time(name === 'tool' ? call : type),
    );
    reportFinding({
      what: `answer of \`${tool}\`, 60 zones`,
      bot: formatMs(taken.tool),
      beside: `\`/cdn ${words}\`: ${formatMs(taken.typed)}`,
      ratio: formatRatio(taken.tool / taken.typed),
      goal: '',
      met: undefined,
    });
  }
  await assistant.close();
  await playground.stop();
});

async function time(work: () => Promise<unknown>): Promise<number> {
  const from = performance.now();
  await work();
  return performance.now() - from;
}

function report(what: string, read: (value: number) => string, [bot, beside]: [number, number]): void {
  reportFinding({
    what,
    bot: read(bot),
    beside: `without: ${read(beside)}`,
    ratio: formatRatio(bot / beside),
    goal: '≤ 1.02 ×',
    met: bot <= 1.02 * beside,
  });
}
