import { afterAll, describe, expect, test } from 'vitest';
import { jobs } from '../../src/app/jobs.ts';
import { initialPolicy } from '../../src/auth/policy/policy.ts';
import { createExportService } from '../../src/commands/exports/exports.ts';
import { operationClockJob } from '../../src/commands/operations/execute.ts';
import { propose, sendFormByAssistant } from '../../src/commands/operations/propose.ts';
import { digestKinds } from '../../src/commands/reports/checks/list.ts';
import { pauseReports } from '../../src/commands/reports/life.ts';
import { toRequested } from '../commands/operations/ledger-harness.ts';
import { createAlertHarness } from '../support/alerts/harness.ts';
import { alice, bob } from '../support/digests/harness.ts';
import { prepareEngines } from '../support/engines.ts';

const { embedded } = await prepareEngines();
const ops = 'C0OPS0000';
const deploys = 'C0DEPLOY0';
const [carol, dave] = ['U0CAROL00', 'U0DAVE000'];
const minute = 60_000;
const hour = 60 * minute;
const targets = { zones: [], shieldZones: ['501'], apps: ['app0api00000001'] };

/** What Slack answers, or carries out and does not answer. */
type Fault = (pass: () => Promise<Response>) => Promise<Response>;

/** The real jobs and kinds of messages; `fault` stands before each post. */
async function open() {
  const posts: string[] = [];
  const untold: string[] = [];
  const state: {
    fault?: (id: string, channel: string) => Fault | undefined;
    edit?: (ts: string) => Fault | undefined;
    /** Before each call, whatever it is. */
    all?: () => Fault | undefined;
  } = {};
  const edits: string[] = [];
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const request = new Request(input, init);
    const broken = state.all?.();
    if (broken) return broken(() => globalThis.fetch(input, init));
    if (request.url.endsWith('/chat.update')) {
      const ts = new URLSearchParams(await request.text()).get('ts') ?? '';
      const pass = async (): Promise<Response> => {
        edits.push(ts);
        return globalThis.fetch(input, init);
      };
      return (state.edit?.(ts) ?? ((own) => own()))(pass);
    }
    if (!request.url.endsWith('/chat.postMessage')) return globalThis.fetch(input, init);
    const args = new URLSearchParams(await request.text());
    const channel = args.get('channel') ?? '';
    const id = /"id":"([^"]+)"/u.exec(args.get('metadata') ?? '')?.[1] ?? '';
    const pass = async (): Promise<Response> => {
      const answer = await globalThis.fetch(input, init);
      const { ok } = (await answer.clone().json()) as { ok: boolean };
      if (ok) posts.push(`${id} in ${channel}`);
      return answer;
    };
    return (state.fault?.(id, channel) ?? ((own) => own()))(pass);
  };
  const harness = await createAlertHarness(await embedded.emptyDatabase(), { adminIds: [carol], fetch });
  const { queue, now, context } = harness;
  const ports = { ...harness.ports, untold: (kind: string) => void untold.push(kind) };
  const others = jobs.filter(({ name }) => name !== 'export');
  return {
    ...harness,
    ports,
    posts,
    edits,
    untold,
    state,
    /** From job to job, for so long. */
    async run(ms: number): Promise<void> {
      for (const until = now().getTime() + ms; ; ) {
        while (await queue.runNext(others, { ...context, ports }));
        if (now().getTime() >= until) return;
        const next = Math.min(until, ...queue.waiting.map(({ at }) => at));
        harness.advance(Math.max(0, next - now().getTime()));
      }
    },
  };
}

type World = Awaited<ReturnType<typeof open>>;

/** A request of Alice's, whose card goes into the channel, or without one to Bob and Dave. */
async function ask(world: World, approvalChannel?: string) {
  const wanted = {
    ...initialPolicy,
    operators: [alice.userId],
    approvers: [bob.userId, dave],
    approvalChannel,
  };
  const about = { tenant: alice.teamId, base: 0, by: carol, difference: [] };
  const saved = await world.policies.save({ ...about, policy: wanted });
  if (!saved.saved) throw new Error('the settings were not saved');
  return propose(world.ledger, {
    requester: alice,
    channelId: undefined,
    ...toRequested({ kind: 'volume-delete', appId: 'app0api00000001', volumeId: 'data' }),
    reason: 'The node is gone',
    snapshot: { zonesTotal: 0, zones: [], summary: 'read' },
    policy: saved.policy,
    approvers: [bob.userId, dave],
  });
}

async function askExport({ db, ports, now }: World) {
  const service = createExportService({ db, ports, now });
  const request = { shieldZoneId: '501', from: new Date(0), to: now(), query: '', filters: [] };
  await service.ask(alice, { ...request, spreadsheetSafe: false, pseudonyms: false }, ops);
  return service;
}

async function fire(world: World): Promise<void> {
  await world.createAlert({ every: 60 });
  await world.run(hour + minute);
  world.setEnabled(0, false);
}

/** Brings each kind of message about. `first`: its first place; what matches is one of them. */
const kinds: readonly {
  readonly kind: string;
  readonly first: string;
  readonly match: RegExp;
  readonly prepare: (world: World) => Promise<unknown>;
}[] = [
  { kind: 'watch-incident', first: ops, match: /^watch:[^:]+-firing-[^:]+(?::again|$)/u, prepare: fire },
  {
    kind: 'alert-change',
    first: ops,
    match: /^watch:[^:]+-firing-[^:]+:\d/u,
    async prepare(world) {
      await fire(world);
      await world.run(hour);
      world.setEnabled(1, false);
    },
  },
  {
    kind: 'alert-heartbeat',
    first: ops,
    match: /^watch-alive:/u,
    async prepare(world) {
      await world.createAlert({ every: 60, lifeSign: true });
      await world.run(24 * hour);
    },
  },
  { kind: 'digest-post', first: ops, match: /^digest:.*Z:\d+$/u, prepare: (world) => world.createDaily() },
  {
    kind: 'digest-detail',
    first: ops,
    match: /^digest:.*Z:\d+:\d+$/u,
    prepare: (world) =>
      world.createDaily(alice, { subject: { kinds: digestKinds, targets, only: 'always', timeZone: 'UTC' } }),
  },
  {
    kind: 'digest-unknown',
    first: alice.userId,
    match: /^digest-unknown:/u,
    async prepare(world) {
      await world.createDaily();
      world.slack.script.fail('chat.postMessage', 'invalid_blocks', 1, 200, ops);
    },
  },
  {
    kind: 'report-paused',
    first: ops,
    match: /^report-paused:/u,
    async prepare(world) {
      const { id } = await world.createDaily();
      await world.db.transaction().execute((trx) => pauseReports(trx, { id }, 'failing', world.ports));
    },
  },
  {
    kind: 'report-taken-over',
    first: ops,
    match: /^report-taken-over:/u,
    async prepare(world) {
      await world.reports.takeOver(await world.createDaily(), bob);
    },
  },
  { kind: 'export', first: ops, match: /^export:/u, prepare: askExport },
  {
    kind: 'export-end',
    first: alice.userId,
    match: /^export-end:/u,
    async prepare(world) {
      const service = await askExport(world);
      await world.db.updateTable('outbox').set({ state: 'dead', next_at: null }).execute();
      const [one] = await service.list(alice, 1);
      await service.cancel(alice, one?.id ?? '');
    },
  },
  {
    kind: 'operation-card',
    first: deploys,
    match: /:card(?::U[^:]+)?$/u,
    prepare: (world) => ask(world, deploys),
  },
  {
    kind: 'operation-requester',
    first: alice.userId,
    match: /:requester/u,
    prepare: (world) => ask(world, deploys),
  },
  {
    kind: 'operation-untold',
    first: alice.userId,
    match: /:untold$/u,
    async prepare(world) {
      for (const approver of [bob.userId, dave])
        world.slack.script.fail('chat.postMessage', 'messages_tab_disabled', 99, 200, approver);
      await ask(world);
    },
  },
  {
    kind: 'operation-reminder',
    first: deploys,
    match: /:reminder$/u,
    async prepare(world) {
      await ask(world, deploys);
      await world.run(16 * minute);
      await operationClockJob.run({}, world.context);
    },
  },
  {
    kind: 'variable-form',
    first: alice.userId,
    match: /^variable-form:/u,
    prepare: ({ ledger }) =>
      sendFormByAssistant(ledger, { requester: alice, path: '/x', message: { text: 'a form' }, minutes: 30 }),
  },
];

const refuse =
  (error: string, init?: ResponseInit): Fault =>
  async () =>
    Response.json({ ok: false, error }, init);
const page: Fault = async () => new Response('<html>Bad gateway</html>', { status: 502 });
/** Their text alone says nothing: who waits for them learns why they were refused, or can ask again. */
const onlyWhole = ['digest-post', 'variable-form'];
const isAboutContent = /gone|too long|no table/u;
const cutBefore = (): Promise<never> => Promise.reject(new TypeError('fetch failed'));
const refuseConnection: Fault = () => globalThis.fetch('http://127.0.0.1:65535/');
const cutAfter: Fault = (pass) => pass().then(cutBefore);

/** What Slack, or what stands in its place, answers to everything while it is down. */
const outages: Readonly<Record<string, Fault>> = {
  'a refused connection': refuseConnection,
  'a page as if all were well': async () => new Response('<html>Log in</html>'),
  'an answer without what it is about': async () => Response.json({ ok: true }),
  'a pause': refuse('ratelimited', { status: 429, headers: { 'retry-after': '30' } }),
};

/** Of each meaning one code, and what is no code. `comes`: the message itself, or its text, is read after one such answer. */
const faults: Readonly<Record<string, readonly [fault: Fault, comes: boolean]>> = {
  'a refusal that passes': [refuse('team_added_to_org'), true],
  'a pause': [refuse('ratelimited', { status: 429, headers: { 'retry-after': '30' } }), true],
  'a limit without a pause': [refuse('ratelimited', { status: 429 }), true],
  'an error of Slack': [refuse('internal_error', { status: 500 }), true],
  'a page': [page, true],
  'a line that is cut before': [cutBefore, true],
  'a line that is cut afterwards': [cutAfter, true],
  'what the installation lacks': [refuse('missing_scope'), true],
  'what an admin can lift': [refuse('ekm_access_denied'), true],
  'a place that takes none': [refuse('not_in_channel'), false],
  'a person who takes none': [refuse('cannot_dm'), false],
  'an app that was taken out': [refuse('account_inactive'), false],
  'what is gone': [refuse('thread_not_found'), true],
  'a message that is too long': [refuse('msg_too_long'), true],
  'a code that is in no table': [refuse('never_seen_before'), true],
};

test.each(Object.entries(faults))(
  'an edit: %s, once or for hours: it is shown, waits or is given up',
  async (name, [fault]) => {
    for (const times of [1, Number.POSITIVE_INFINITY]) {
      await using world = await open();
      const { id } = await ask(world, deploys);
      await world.run(minute);
      const row = world.db.selectFrom('outbox').selectAll().where('id', 'like', `%${id}%:card`);
      const { id: card, ts } = await row.executeTakeFirstOrThrow();
      let left = times;
      let refused = 0;
      world.state.edit = (edited) => {
        if (edited !== ts || left-- <= 0) return undefined;
        refused += 1;
        return fault;
      };
      await world.db.transaction().execute((trx) => world.ports.outbox.edit(trx, card));
      await world.run(26 * hour);
      const { shown, wanted, next_at: next } = await row.executeTakeFirstOrThrow();
      const outcome = {
        isRefused: refused > 0,
        isShown: world.edits.includes(ts ?? ''),
        isOver: shown === wanted && next === null,
      };
      const isFinal = /takes none|taken out/u.test(name);
      expect({ times, ...outcome }).toEqual({
        times,
        isRefused: true,
        isShown: name.includes('cut afterwards') || (times === 1 && !isFinal),
        isOver: true,
      });
    }
  },
);

describe.each(kinds)('$kind', ({ kind, first, match, prepare }) => {
  const worlds: World[] = [];
  afterAll(async () => {
    for (const world of worlds) await world[Symbol.asyncDispose]();
  });

  test.each(Object.entries(faults))(
    '%s, once or for hours: a person or a metric says so',
    async (name, about) => {
      const [fault, comes] = about;
      for (const times of [1, Number.POSITIVE_INFINITY]) {
        const world = await open();
        worlds.push(world);
        await prepare(world);
        const before = world.posts.length;
        let left = times;
        let refused = 0;
        world.state.fault = (id, channel) => {
          if (channel !== first || !match.test(id) || left-- <= 0) return undefined;
          refused += 1;
          return fault;
        };
        await world.run(3 * hour);
        const told = world.posts.slice(before);
        const own = told.filter((post) => match.test(post.split(' ')[0] ?? ''));
        const mayBeLost = times > 1 || !comes || (onlyWhole.includes(kind) && isAboutContent.test(name));
        const due = await world.db
          .selectFrom('outbox')
          .select(['id', 'places'])
          .where('state', '=', 'due')
          .execute();
        const isWaiting = due.some(({ id, places }) => match.test(id) && !places.includes(','));
        const outcome = {
          isRefused: refused > 0,
          isRead: own.length > 0 || mayBeLost,
          isSaid: own.length > 0 || world.untold.includes(kind) || isWaiting,
          // Only a direct message cannot be looked for.
          twice: own.filter((post, nth) => own.indexOf(post) !== nth && !/ U/u.test(post)),
        };
        const fine = { isRefused: true, isRead: true, isSaid: true, twice: [] };
        expect({ times, told, ...outcome }).toEqual({ times, told, ...fine });
      }
    },
  );

  test.each(Object.entries(outages))(
    '%s to everything for ten minutes: it comes after that, once',
    async (_, fault) => {
      const world = await open();
      worlds.push(world);
      await prepare(world);
      let began: number | undefined;
      world.state.fault = (id) => {
        if (!match.test(id) || began !== undefined) return undefined;
        began = world.now().getTime();
        return fault;
      };
      world.state.all = () =>
        began !== undefined && world.now().getTime() < began + 10 * minute ? fault : undefined;
      await world.run((kind.startsWith('alert') || kind.startsWith('digest') ? 25 : 3) * hour);
      const own = world.posts.filter((post) => match.test(post.split(' ')[0] ?? ''));
      const twice = own.filter((post, nth) => own.indexOf(post) !== nth);
      expect({ isRead: own.length > 0, twice }).toEqual({ isRead: true, twice: [] });
    },
  );
});
