import { randomUUID } from 'node:crypto';
import { type Selectable, sql } from 'kysely';
import { z } from 'zod';
import type { Installation } from '../auth/identity.ts';
import { hourMs, minuteMs } from '../lib/time.ts';
import { storeWithRetries } from '../store/database.ts';
import { defineJob, type Enqueue, type Job, type JobContext } from '../store/queue.ts';
import type { Db, Schema, Trx } from '../store/schema.ts';
import { context as contextBlock, limits, type Message, say, section } from '../views/blocks/blocks.ts';
import { deliverMessage, type Ended, enqueueDelivery, type MessageKind, type Refusal } from './outbox.ts';
import type { Audience, OpenSlack, Posted, SlackPort } from './slack-port.ts';
import {
  canBeLifted,
  classifySlackFailure,
  describeLift,
  type FailureClass,
  isPassingCode,
  readCode,
  SlackFailure,
} from './slack-port.ts';

/** A row that is `sending` for longer was left by a killed process, or its answer was lost. A call takes 10 s at most. */
const lostMs = 20_000;
/** A process that was frozen for longer does not post: another may have looked already. */
const freshMs = 5_000;
const mostLooks = 8;
/** With their growing pauses half an hour, as long as most outages of Slack. */
const mostFailedLooks = 12;
/** Slack shows a message that it took no later than this after the claim. */
const findableMs = 2 * minuteMs;
/** In a place; twice as many in the last one. */
const mostUncertainPosts = 3;
/** Refusals that may pass after which the next place gets the message: after about a minute. */
const mostPassingRefusals = 5;
const mostEditAttempts = 16;
/** An edit that Slack only postpones is out of date after a day. */
const mostPostponedEdits = 300;
const longestBackoffMs = 5 * minuteMs;
const longestLiftPauseMs = hourMs;
/** A reservation that was missed by more is made again. */
const staleSlotMs = 5_000;
/** Who reads a channel is asked again after this. */
const audienceKnownMs = 30_000;

export type DeliverPorts = {
  readonly slack: OpenSlack;
  readonly enqueue: Enqueue;
  /** Counts a message that no place took, or that may not have arrived. */
  readonly untold: (kind: string) => void;
  /** Who reads a channel, as it was known no longer ago than `knownMs`. */
  readonly readAudience: (
    at: Installation,
    channel: string,
    about: { readonly signal: AbortSignal; readonly knownMs: number },
  ) => Promise<Audience>;
};
type Row = Selectable<Schema['outbox']>;
type Kind = MessageKind<never, DeliverPorts>;
type Method = 'chat.postMessage' | 'chat.update';

interface Delivery {
  readonly row: Row;
  readonly kind: Kind;
  readonly about: never;
  readonly refusal: Refusal | undefined;
  readonly context: JobContext<DeliverPorts>;
  readonly slack: SlackPort;
  readonly installation: Installation;
  readonly places: readonly string[];
  readonly place: string;
  readonly thread: string | undefined;
}

export function createDeliverJob<Ports extends DeliverPorts>(
  kinds: readonly MessageKind<never, Ports>[],
): Job<{ id: string }, Ports> {
  const byName = new Map(kinds.map((kind) => [kind.kind, kind as unknown as Kind]));
  const open = async (stored: unknown, context: JobContext<Ports>): Promise<Delivery | undefined> => {
    const { id } = stored as { id: string };
    const row = await context.db.selectFrom('outbox').selectAll().where('id', '=', id).executeTakeFirst();
    if (!row || row.next_at === null) return undefined;
    const kind = byName.get(row.kind);
    if (!kind) throw new Error(`the outbox has no message kind ${row.kind}`);
    const installation = { enterpriseId: row.enterprise_id ?? undefined, teamId: row.team_id };
    const places = JSON.parse(row.places) as string[];
    return {
      row,
      kind,
      about: JSON.parse(row.about) as never,
      refusal: row.refusal === null ? undefined : (JSON.parse(row.refusal) as Refusal),
      context,
      slack: context.ports.slack(installation, context.signal),
      installation,
      places,
      place: row.posted_in ?? places[row.place] ?? '',
      thread: undefined,
    };
  };
  return {
    ...deliverMessage,
    async run(stored, context) {
      const delivery = await open(stored, context);
      if (!delivery) return;
      const { db, ports, now } = context;
      const { row } = delivery;
      // Woken early: by an edit, or by a clock that is ahead of this one.
      if (row.next_at && row.next_at.getTime() - now().getTime() > 1_000)
        return enqueueDelivery(ports.enqueue, row, { at: row.next_at });
      if (row.state === 'sent') return showEdit(delivery);
      if (row.parent === null) return send(delivery);
      const parent = await findParent(row, db);
      if (parent === 'waiting') return;
      if (parent === 'gone') return end(delivery, { state: 'dead', reason: 'parent' });
      return send({ ...delivery, place: parent.channel, thread: parent.ts });
    },
    async putAside(stored, context) {
      const delivery = await open(stored, context);
      if (!delivery) return;
      const { state, refusal } = delivery.row;
      const code = 'put_aside';
      // Another job may have ended both processes: the message has one more try, replaced where its kind can.
      if (refusal === null)
        return tryAgain(delivery, context.now(), { slot: null, refusal: JSON.stringify({ code }) });
      if (state === 'sent') return storeEdit(delivery, code);
      if (state === 'sending') return endInDoubt(delivery, code);
      await end(delivery, { state: 'dead', reason: 'refused', code });
    },
  };
}

export const sweepOutboxJob = defineJob({
  name: 'outbox-sweep',
  cron: '* * * * *',
  data: z.object({}),
  retries: 0,
  async run(_data, { db, ports, now, log }: JobContext<DeliverPorts>) {
    const late = await db
      .selectFrom('outbox')
      .select(['id', 'tenant'])
      .where('next_at', '<', new Date(now().getTime() - 3 * lostMs))
      .orderBy('next_at')
      .limit(500)
      .execute();
    for (const row of late) await enqueueDelivery(ports.enqueue, row);
    if (late.length > 0) log.info({ messages: late.length }, 'outbox messages enqueued again');
  },
});

/** The thread of a reply. `waiting`: the end of what comes before it enqueues it again. */
async function findParent(row: Row, db: Db): Promise<Posted | 'waiting' | 'gone'> {
  const parent = await db
    .selectFrom('outbox')
    .select(['state', 'posted_in', 'ts'])
    .where('id', '=', row.parent)
    .executeTakeFirst();
  if (parent?.state === 'due' || parent?.state === 'sending') return 'waiting';
  if (parent?.state !== 'sent' || parent.posted_in === null || parent.ts === null) return 'gone';
  const earlier = await db
    .selectFrom('outbox')
    .select('id')
    .where('parent', '=', row.parent)
    .where('seq', '<', row.seq)
    .where('state', 'in', ['due', 'sending'])
    .limit(1)
    .executeTakeFirst();
  return earlier ? 'waiting' : { channel: parent.posted_in, ts: parent.ts };
}

async function send(delivery: Delivery): Promise<void> {
  const { row, context, slack, place, thread } = delivery;
  const { db, now, signal, log } = context;
  if (row.state === 'sending') return lookForMessage(delivery);
  if (row.expires_at <= now()) return end(delivery, { state: 'dead', reason: 'expired' });
  if (!(await takeSlot(delivery, 'chat.postMessage'))) return;
  const obstacle = await findObstacle(delivery);
  if (obstacle?.meaning === 'pass')
    return void (await retryOrReplace(delivery, obstacle, 'chat.postMessage', released));
  if (obstacle) return refuse(delivery, obstacle);
  let message: Message | undefined;
  try {
    message = await render(delivery);
  } catch (error) {
    log.error({ message: row.id, error }, 'message could not be rendered');
    return backOff(delivery, released);
  }
  if (!message) return end(delivery, { state: 'dead', reason: 'withdrawn' });
  signal.throwIfAborted();

  const begun = performance.now();
  const at = now();
  const bySlack = slack.toSlackTime(at);
  const claimed = await db
    .updateTable('outbox')
    .set({
      state: 'sending',
      claim: randomUUID(),
      claimed_at: bySlack.until,
      first_at: row.first_at ?? bySlack.since,
      next_at: new Date(at.getTime() + lostMs),
      shown: row.wanted,
      changed_at: at,
    })
    .where('id', '=', row.id)
    .where('state', '=', 'due')
    .where('place', '=', row.place)
    .returningAll()
    .executeTakeFirst();
  if (!claimed) return;
  const sending = { ...delivery, row: claimed };
  if (performance.now() - begun > freshMs) return tryAgain(sending, claimed.next_at ?? at, {});
  let posted: Posted;
  try {
    posted = await slack.post(place, explainPlace(message, delivery), { id: row.id, thread });
  } catch (error) {
    return handlePostFailure(sending, error);
  }
  await end(sending, { state: 'sent', ...posted });
}

/** Why nothing is posted in a channel: others read it, perhaps since it was chosen, or Slack does not say who does. */
async function findObstacle({ context, installation, place }: Delivery): Promise<FailureClass | undefined> {
  if (!/^[CG]/u.test(place)) return undefined;
  const { ports, signal } = context;
  const audience = await ports.readAudience(installation, place, { signal, knownMs: audienceKnownMs });
  if (audience === 'own') return undefined;
  const code = audience === 'others' ? 'channel_shared' : audience.unknown;
  return { meaning: isPassingCode(code) ? 'pass' : readCode(code), code };
}

async function render({ row, kind, about, refusal, context, place }: Delivery): Promise<Message | undefined> {
  const { render, renderInstead } = kind;
  const where = { ...context, place };
  const body = row.body === null ? undefined : (JSON.parse(row.body) as Message);
  const renderWhole = async () => body ?? render?.(about, where);
  if (!refusal || renderInstead === 'nothing') return renderWhole();
  if (renderInstead) return renderInstead(about, refusal, where);
  const whole = await renderWhole();
  return refusal.code === 'put_aside' || !whole ? whole : say(whole.text);
}

/** Where it was meant for another place that somebody can open to it, the message says so. */
function explainPlace(message: Message, { row, places: [wanted = ''] }: Delivery): Message {
  const { text, blocks = [section(text)] } = message;
  const code = row.code ?? '';
  const isNews = row.place > 0 && readCode(code) !== 'place';
  if (!isNews || blocks.length >= limits.blocks) return message;
  const fix = canBeLifted(code) ? ` ${describeLift(code)}` : '';
  const where = /^[CG]/u.test(wanted) ? `<#${wanted}>` : `<@${wanted}>`;
  const note = contextBlock(`Meant for ${where}, where Slack did not take it (${code}).${fix}`);
  return { ...message, blocks: [...blocks, note] };
}

/** Waits where Slack asks for it, or sends the replacement. */
async function retryOrReplace(
  delivery: Delivery,
  failure: FailureClass,
  method: Method,
  unposted: Change,
): Promise<boolean> {
  const { row, kind, context } = delivery;
  const { code, reference, askedMs } = failure;
  if (failure.meaning === 'pass') {
    if (method === 'chat.update' && row.attempts >= mostPostponedEdits) return false;
    const isLong = method === 'chat.postMessage' && row.attempts >= mostPassingRefusals;
    const place = (row.place + 1) % Math.max(1, delivery.places.length);
    const next = { ...unposted, code: row.code ?? code, ...(isLong && { place, first_at: null }) };
    // Without a pause that Slack asks for, the refusal is about this message alone, or its place.
    if (askedMs !== undefined)
      await pauseMethod(context.db, row.tenant, method, new Date(context.now().getTime() + askedMs));
    await backOff(delivery, next, { askedMs });
    return true;
  }
  if (!isFinal(failure) || kind.renderInstead === 'nothing' || row.refusal !== null) return false;
  await tryAgain(delivery, context.now(), { ...unposted, refusal: JSON.stringify({ code, reference }) });
  return true;
}

/** About the message itself: no place takes it. */
function isFinal({ meaning }: FailureClass): boolean {
  return meaning === 'refused' || meaning === 'absent';
}

const released = { state: 'due', claim: null, slot: null } as const;

async function handlePostFailure(delivery: Delivery, error: unknown): Promise<void> {
  const { row, context, place } = delivery;
  const { now, log } = context;
  const failure = classifySlackFailure(error);
  if (await retryOrReplace(delivery, failure, 'chat.postMessage', released)) return;
  if (failure.meaning === 'unclear') {
    log.warn({ message: row.id, place, code: failure.code }, 'message may have been posted or not');
    return tryAgain(delivery, new Date(now().getTime() + lostMs), { attempts: 0 });
  }
  if (failure.meaning === 'not-sent') {
    log.error({ message: row.id, error }, 'message could not be sent');
    return backOff(delivery, released);
  }
  await refuse(delivery, failure);
}

/** Goes on with the next place. After the last one the message ends, or begins again where a refusal passes or can be lifted. */
async function refuse(delivery: Delivery, { meaning, code, reference }: FailureClass): Promise<void> {
  const { row, context, places, place } = delivery;
  const { now, log } = context;
  log.info({ message: row.id, place, code }, 'message was refused by a place');
  const first = row.place === 0 ? code : (row.code ?? code);
  const unposted = { ...released, first_at: null, looks: 0 };
  if (meaning !== 'app' && row.place + 1 < places.length)
    return tryAgain(delivery, now(), { ...unposted, place: row.place + 1, code: first });
  const lifted = [first, code].find(canBeLifted);
  if (meaning === 'app' || (lifted === undefined && readCode(first) !== 'pass')) {
    const reason = meaning === 'app' ? 'app-gone' : meaning === 'place' ? 'place-gone' : 'refused';
    return end(delivery, { state: 'dead', reason, code: first, reference });
  }
  if (lifted !== undefined)
    log.error(
      { message: row.id, code: lifted, fix: describeLift(lifted) },
      'message waits until a setting in Slack is changed',
    );
  const longestMs = lifted === undefined ? longestBackoffMs : longestLiftPauseMs;
  await backOff(delivery, { ...unposted, place: 0, code: lifted ?? first }, { longestMs });
}

/** Looks for a message whose process died, or whose answer was lost, before anything is posted again. */
async function lookForMessage(delivery: Delivery): Promise<void> {
  const { row, context, slack, place, thread } = delivery;
  const { now } = context;
  // Direct messages cannot be read.
  if (!/^[CG]/u.test(place)) return endInDoubt(delivery, 'cannot_look');
  if (row.looks >= mostLooks) return endInDoubt(delivery, 'too_often');
  let found: Posted | undefined;
  try {
    const until = new Date((row.claimed_at ?? now()).getTime() + findableMs);
    found = await slack.find(row.id, { channel: place, since: row.first_at ?? now(), until, thread });
  } catch (error) {
    const failure = classifySlackFailure(error);
    const { meaning, code, askedMs } = failure;
    if (isFinal(failure) || canBeLifted(code)) return endInDoubt(delivery, code);
    if (meaning === 'place' || meaning === 'app') return refuse(delivery, failure);
    const most = row.doubt === 'retry' ? mostPassingRefusals : mostFailedLooks;
    if (row.attempts >= most) return endInDoubt(delivery, 'too_often');
    return backOff(delivery, {}, { askedMs });
  }
  if (found) return end(delivery, { state: 'sent', ...found });
  await postAgain(delivery);
}

async function endInDoubt(delivery: Delivery, code: string): Promise<void> {
  const { row, context, place } = delivery;
  if (row.doubt === 'retry') return postAgain(delivery);
  // The bot has looked and found no copy: none is worse than two.
  if (row.doubt === 'once' && code === 'too_often') return leavePlace(delivery, code);
  if (row.doubt === 'once') return end(delivery, { state: 'sent', channel: place, code });
  context.log.warn({ message: row.id, place, code }, 'unknown whether message was posted');
  await end(delivery, { state: 'unknown', code });
}

/** Goes on with the next place where this one may have the message. */
async function leavePlace(delivery: Delivery, code: string): Promise<void> {
  const { row, context, places, place } = delivery;
  context.log.warn({ message: row.id, place, code }, 'unknown whether message was posted');
  if (row.place + 1 >= places.length) return end(delivery, { state: 'unknown', code });
  const next = { place: row.place + 1, first_at: null, looks: 0, code: row.code ?? code };
  await tryAgain(delivery, context.now(), { ...released, ...next });
}

/** Posts a message again; after several posts without an answer into the next place, and later into the last one. */
async function postAgain(delivery: Delivery): Promise<void> {
  const { row, context, places } = delivery;
  const looks = row.looks + 1;
  const again = { ...released, looks };
  if (row.doubt !== 'retry' || looks < mostUncertainPosts) return tryAgain(delivery, context.now(), again);
  if (row.place + 1 < places.length || looks >= 2 * mostUncertainPosts)
    return leavePlace(delivery, row.code ?? 'no_answer');
  await tryAgain(delivery, new Date(context.now().getTime() + lostMs * 2 ** looks), again);
}

type Change = Partial<
  Pick<Row, 'state' | 'claim' | 'slot' | 'place' | 'first_at' | 'looks' | 'attempts' | 'code' | 'refusal'>
>;

/** Has a job come back at that moment, unless the row has moved on meanwhile. */
async function tryAgain({ row, context }: Delivery, wanted: Date, change: Change): Promise<void> {
  const { db, ports, now } = context;
  // The end of an unposted message that is out of date is reported at once.
  const at = change.state === 'due' && wanted > row.expires_at ? row.expires_at : wanted;
  await db.transaction().execute(async (trx) => {
    const moved = await trx
      .updateTable('outbox')
      .set({ ...change, next_at: at, changed_at: now() })
      .where('id', '=', row.id)
      .where('state', '=', row.state)
      .where(sql<boolean>`claim is not distinct from ${row.claim}`)
      .returning('id')
      .executeTakeFirst();
    if (moved) await enqueueDelivery(ports.enqueue, row, { in: trx, at });
  });
}

async function backOff(
  delivery: Delivery,
  change: Change,
  { askedMs = 0, longestMs = longestBackoffMs }: { askedMs?: number | undefined; longestMs?: number } = {},
): Promise<void> {
  const { attempts } = delivery.row;
  const pauseMs = Math.max(askedMs, Math.min(longestMs, 2_000 * 2 ** attempts));
  const at = new Date(delivery.context.now().getTime() + pauseMs);
  await tryAgain(delivery, at, { ...change, attempts: attempts + 1 });
}

interface End extends Partial<Posted & Pick<Ended<never>, 'reason' | 'code' | 'reference'>> {
  readonly state: 'sent' | 'unknown' | 'dead';
}

/** Ends a message, once: what follows from it commits with it. */
async function end(
  { row, kind, about, refusal, context, place }: Delivery,
  { state, channel, ts, reason, code = refusal?.code, reference = refusal?.reference }: End,
): Promise<void> {
  const { db, ports, now, log } = context;
  if (state === 'dead') log.warn({ message: row.id, place, reason, code }, 'message was not delivered');
  const posted = channel !== undefined && ts !== undefined ? { channel, ts } : undefined;
  const earlier = row.code ?? undefined;
  // What the first place refused for a while does not matter once it takes it.
  const word = row.place > 0 ? (earlier ?? code) : (code ?? (posted ? undefined : earlier));
  const ended = { id: row.id, about, state, place, posted, reason, code: word, reference };
  let isStored = false;
  const store = async (trx: Trx): Promise<void> => {
    const at = now();
    const stored = await trx
      .updateTable('outbox')
      .set({
        state,
        posted_in: channel ?? null,
        ts: ts ?? null,
        code: ended.code ?? null,
        claim: null,
        slot: null,
        attempts: 0,
        body: null,
        // An edit that came between rendering and claiming is not shown yet.
        next_at: sql`case when wanted > shown and ${state} = 'sent' then ${at}::timestamptz end`,
        changed_at: at,
      })
      .where('id', '=', row.id)
      .where('state', '=', row.state)
      .where(sql<boolean>`claim is not distinct from ${row.claim}`)
      .returning('next_at')
      .executeTakeFirst();
    if (!stored) return;
    isStored = true;
    await kind.ended?.(trx, ended, context);
    const { rows: followers } = await sql<{ id: string }>`
      (select id from outbox where parent = ${row.id} and state = 'due' order by seq limit 1)
      union all
      (select id from outbox where parent = ${row.parent} and state = 'due' and seq > ${row.seq}
       order by seq limit 1)`.execute(trx);
    for (const { id } of [...(stored.next_at ? [row] : []), ...followers])
      await enqueueDelivery(ports.enqueue, { id, tenant: row.tenant }, { in: trx });
  };
  await storeWithRetries(() => db.transaction().execute(store), context.signal);
  // Also what is taken as sent in doubt.
  if (isStored && !posted && reason !== 'withdrawn' && reason !== 'parent') ports.untold(row.kind);
}

async function showEdit(delivery: Delivery): Promise<void> {
  const { row, context, slack } = delivery;
  if (row.posted_in === null || row.ts === null) return storeEdit(delivery, 'no_message');
  if (!(await takeSlot(delivery, 'chat.update'))) return;
  try {
    const obstacle = await findObstacle(delivery);
    if (obstacle) throw new SlackFailure(obstacle.code);
    const message = await render(delivery);
    if (message) await slack.update({ channel: row.posted_in, ts: row.ts }, explainPlace(message, delivery));
  } catch (error) {
    const failure = classifySlackFailure(error);
    if (await retryOrReplace(delivery, failure, 'chat.update', { slot: null })) return;
    const { meaning, code } = failure;
    if (meaning === 'not-sent') context.log.error({ message: row.id, error }, 'message could not be edited');
    const mayPass = !isFinal(failure) && meaning !== 'place' && meaning !== 'app';
    if (mayPass && row.attempts < mostEditAttempts) return backOff(delivery, { slot: null });
    context.log.info({ message: row.id, code }, 'message can no longer be edited');
    return storeEdit(delivery, code);
  }
  await storeEdit(delivery);
}

async function storeEdit({ row, kind, about, context }: Delivery, failed?: string): Promise<void> {
  const { db, now } = context;
  await db.transaction().execute(async (trx) => {
    await trx
      .updateTable('outbox')
      .set({
        shown: row.wanted,
        slot: null,
        attempts: 0,
        next_at: sql`case when wanted > ${row.wanted} then ${now()}::timestamptz end`,
        changed_at: now(),
      })
      .where('id', '=', row.id)
      .execute();
    if (failed !== undefined) await kind.editFailed?.(trx, { id: row.id, about, code: failed }, context);
  });
}

/** True when it is this call's turn. Else a job comes back at the reserved moment. */
async function takeSlot(delivery: Delivery, method: Method): Promise<boolean> {
  const { row, context, place } = delivery;
  const { db, now } = context;
  if (row.slot && now().getTime() - row.slot.getTime() <= staleSlotMs) return true;
  const at = now();
  let slot = await reserve(db, row.tenant, method, at);
  if (method === 'chat.postMessage') slot = await reserve(db, row.tenant, place, slot);
  if (slot <= at) return true;
  await tryAgain(delivery, slot, { slot });
  return false;
}

/** One call in so many ms; after a quiet time calls may come `burstMs` early. */
type Rate = Readonly<Record<'everyMs' | 'burstMs', number>>;

// https://docs.slack.dev/apis/web-api/rate-limits
const channelRate: Rate = { everyMs: 1_000, burstMs: 0 };
const rates: Readonly<Record<string, Rate>> = {
  'chat.postMessage': { everyMs: 150, burstMs: 1_000 },
  'chat.update': { everyMs: 1_000, burstMs: 15_000 },
};

async function reserve(db: Db, tenant: string, bucket: string, from: Date): Promise<Date> {
  const { everyMs, burstMs } = rates[bucket] ?? channelRate;
  const earliest = new Date(from.getTime() - burstMs);
  const { rows } = await sql<{ free_at: Date }>`
    insert into slack_pace (tenant, bucket, free_at)
    values (${tenant}, ${bucket}, ${new Date(earliest.getTime() + everyMs)}::timestamptz)
    on conflict (tenant, bucket) do update set free_at =
      greatest(slack_pace.free_at, ${earliest}::timestamptz) + ${everyMs} * interval '1 millisecond'
    returning free_at`.execute(db);
  const slot = (rows[0]?.free_at ?? from).getTime() - everyMs;
  return new Date(Math.max(slot, from.getTime()));
}

/** Slack asked for a pause: earlier reservations of this method are void. */
async function pauseMethod(db: Db, tenant: string, method: Method, until: Date): Promise<void> {
  await sql`
    insert into slack_pace (tenant, bucket, free_at) values (${tenant}, ${method}, ${until}::timestamptz)
    on conflict (tenant, bucket) do update set free_at = greatest(slack_pace.free_at, excluded.free_at)`.execute(
    db,
  );
  await db
    .updateTable('outbox')
    .set({ slot: null })
    .where('tenant', '=', tenant)
    .where('slot', 'is not', null)
    .execute();
}
