import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { linkKey, measureProcessorTime, runCommand } from './measure/commands.ts';
import {
  acknowledgementTimes,
  type Delivery,
  deliverRequest,
  findAnswer,
  formatSpread,
  waitForAnswers,
} from './measure/deliveries.ts';
import { requestAnswer, sendAtRate, startAtRate } from './measure/load.ts';
import { watchEventLoop } from './measure/metrics.ts';
import { measureInTurns, percentile } from './measure/numbers.ts';
import {
  type Cdn,
  type Subject,
  startBot,
  startCdn,
  startPostgres,
  startSubject,
  withTempDirectory,
} from './measure/processes.ts';
import { formatMs, formatRatio, logProgress, reportFinding } from './measure/report.ts';
import { type BenchSlack, startSlack } from './measure/slack.ts';

// What an answer costs the processor, and how long people wait for theirs in a mix of commands, forms, menus and presses.
//   node bench/answers.ts --commands 20000 --rate 50
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { commands: { type: 'string', default: '20000' }, rate: { type: 'string', default: '50' } },
});
const [commands, perSecond] = [Number(positionals[0] ?? values.commands), Number(values.rate)];
const rounds = 5;
const warmUps = 2_000;
const people = 20;
const goals = { timesBolt: 1.2, embeddedMs: 2, p99Ms: 500, worstMs: 2_000 };
/** After the last command; then a command counts as not answered. */
const patienceMs = 30_000;

/** One after the other. `connect`, `zone` and `zones:form` open modals. */
const kinds: readonly ((slack: BenchSlack, bot: Subject, user: string) => Promise<Delivery>)[] = [
  ...['help', 'zones', 'zone 1001', 'connect', 'whoami', 'errors 1001 yesterday', 'zone', 'digest list'].map(
    (words) => (slack: BenchSlack, bot: Subject, user: string) =>
      deliverRequest(slack, bot.port, (answers) => slack.slash(words, { user, answers })),
  ),
  ...['zones:page', 'zones:form'].map(
    (action) => (slack: BenchSlack, bot: Subject, user: string) =>
      deliverRequest(slack, bot.port, (answers) => slack.press(action, 'page=2', { user, answers })),
  ),
  search,
];

await withTempDirectory(async (dataDir) => {
  const [slack, cdn] = [await startSlack(), await startCdn(100, 'few')];
  const env = {
    ...slack.environment('http'),
    CDN_API_URL: cdn.url,
    CDN_ORIGIN_LOGGING_URL: cdn.originLoggingUrl,
  };
  const postgres = await startPostgres();
  if (typeof postgres === 'string') logProgress(`PostgreSQL left out: ${postgres}`);
  const embedded = await startBot({ ...env, DATA_DIR: dataDir });
  await linkKeys(slack, embedded, cdn);
  const answer = await readHelp(slack, embedded);
  const bareEmbedded = await startBare('embedded', { ...env, DATA_DIR: `${dataDir}-bare`, ANSWER: answer });
  if (typeof postgres === 'string') await reportCost(slack, { embedded, bareEmbedded });
  else {
    const shared = await startBot({ ...env, ...postgres.environment });
    await linkKeys(slack, shared, cdn);
    const withRow = { ...env, DATABASE_URL: postgres.environment['DATABASE_URL'] ?? '', ANSWER: answer };
    const bolt = await startSubject(['bench/minimal-bolt.ts', 'http', 'row'], withRow);
    const bareShared = await startBare('postgres', withRow);
    for (const peer of [bolt, bareShared, bareEmbedded])
      if ((await readHelp(slack, peer)) !== answer) throw new Error('a peer answers something else');
    await reportCost(slack, { embedded, shared, bolt, bareEmbedded, bareShared });
    for (const peer of [bolt, bareShared]) await peer.stop();
    await reportMix('PostgreSQL', slack, shared);
    await shared.stop();
    await postgres.stop();
  }
  await bareEmbedded.stop();
  await reportMix('embedded', slack, embedded);
  for (const one of [embedded, cdn]) await one.stop();
  await slack.close();
});

function personOf(n: number): string {
  return `U0MIXED${n % people}`;
}

async function linkKeys(slack: BenchSlack, bot: Subject, cdn: Cdn): Promise<void> {
  for (let n = 0; n < people; n += 1) await linkKey(slack, bot.port, cdn.key, personOf(n));
}

function startBare(engine: 'embedded' | 'postgres', env: Readonly<Record<string, string>>): Promise<Subject> {
  return startSubject(['bench/bare-http.ts', engine], env);
}

/** The message that answers `/cdn help`, as it was sent. */
async function readHelp(slack: BenchSlack, { port }: Subject): Promise<string> {
  return (await runCommand(slack, port, 'help', { user: personOf(0) })).body;
}

interface Subjects {
  readonly embedded: Subject;
  readonly bareEmbedded: Subject;
  readonly shared?: Subject;
  readonly bareShared?: Subject;
  readonly bolt?: Subject;
}

async function reportCost(slack: BenchSlack, subjects: Subjects): Promise<void> {
  const names = (['embedded', 'shared', 'bolt', 'bareEmbedded', 'bareShared'] as const).filter(
    (name) => subjects[name],
  );
  const help = (): Buffer => slack.slash('help', { user: personOf(0) });
  const read = async (name: (typeof names)[number]): Promise<number> => {
    const reading = await measureProcessorTime(slack, subjects[name] ?? subjects.embedded, help);
    logProgress(`processor, ${name}: ${formatMs(reading)}`);
    return reading;
  };
  // Before V8 has compiled what runs often, each costs half as much again.
  for (const name of names) {
    const until = slack.answered() + warmUps;
    await sendAtRate((subjects[name] ?? subjects.embedded).port, help, {
      perSecond: 300,
      until: (sent) => sent >= warmUps,
    });
    while (slack.answered() < until) await pause(5);
  }
  const cost = await measureInTurns(names, rounds, read);
  const report = (engine: string, bot: 'embedded' | 'shared', bare: number, goal: string, met: boolean) =>
    reportFinding(
      {
        what: `processor time of an answered \`/cdn help\`, ${engine}`,
        bot: formatMs(cost[bot]),
        beside: [
          ...(subjects.bolt
            ? [`a Bolt app that reads a row and answers the same ${formatMs(cost.bolt)}`]
            : []),
          `the least program that claims a delivery and answers the same ${formatMs(bare)}`,
        ].join(', '),
        ratio: [
          ...(subjects.bolt ? [`${formatRatio(cost[bot] / cost.bolt)} that app`] : []),
          `${formatRatio(cost[bot] / bare)} that program`,
        ].join(', '),
        goal,
        met,
      },
      (subjects[bot] ?? subjects.embedded).port,
    );
  report(
    'embedded',
    'embedded',
    cost.bareEmbedded,
    `≤ ${goals.embeddedMs} ms`,
    cost.embedded <= goals.embeddedMs,
  );
  if (subjects.shared)
    report(
      'PostgreSQL',
      'shared',
      cost.bareShared,
      `≤ ${goals.timesBolt} × that app`,
      cost.shared <= goals.timesBolt * cost.bolt,
    );
}

/** A menu's lines are in the acknowledgement. */
async function search(slack: BenchSlack, { port }: Subject, user: string): Promise<Delivery> {
  const sentAt = performance.now();
  const { body } = await requestAnswer(port, slack.suggest('zones:pick', 'shop', user));
  const at = performance.now();
  return { sentAt, acknowledgedAt: at, repeats: 0, answers: [{ at, text: body }] };
}

async function reportMix(engine: string, slack: BenchSlack, bot: Subject): Promise<void> {
  const before = slack.expiredTriggers();
  const deliveries: Delivery[] = [];
  let turn = 0;
  const send = async (): Promise<void> => {
    const n = (turn += 1);
    const run = kinds[n % kinds.length] ?? search;
    deliveries.push(await run(slack, bot, personOf(Math.floor(n / kinds.length))));
    if (n % 1_000 === 0) logProgress(`${engine}: ${n} of ${commands}`);
  };
  await watchEventLoop(bot.port, async () => {
    await startAtRate(perSecond, (started) => started >= commands, send);
    await waitForAnswers(deliveries, patienceMs);
  });
  const late = slack.expiredTriggers() - before;
  const times = deliveries.flatMap((one) => {
    const answer = findAnswer(one);
    return answer ? [answer.at - one.sentAt] : [];
  });
  const silent = deliveries.length - times.length;
  logProgress(`${engine}: answered ${formatSpread(times)}; ${silent} not; ${late} triggers late`);
  reportFinding({
    what: `${commands.toLocaleString('en')} mixed commands, ${perSecond} a second, answered, ${engine}`,
    bot: `${formatSpread(times)}; ${silent} not answered, ${late} trigger ids used late`,
    beside: `acknowledged ${formatSpread(acknowledgementTimes(deliveries))}`,
    ratio: '',
    goal: 'p99 ≤ 500 ms, worst ≤ 2 s, all answered, no trigger id after 3 s',
    met:
      silent === 0 &&
      late === 0 &&
      percentile(times, 99) <= goals.p99Ms &&
      Math.max(...times) <= goals.worstMs,
  });
}
