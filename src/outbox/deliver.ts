import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Selectable, sql, type Transaction } from 'kysely';
import { z } from 'zod';
import { defineJob, type Job, type JobContext } from '../store/queue/define-job.ts';
import type { Enqueue } from '../store/queue/queue.ts';
import type { Schema } from '../store/schema.ts';
import type { Message } from '../views/blocks/message.ts';
import { classifySlackFailure, type FailureClass } from './classify-failure.ts';
import { type Ended, type MessageKind, type Refusal, tell } from './outbox.ts';
import { type Method, pauseMethod, reserveSlot } from './pace.ts';
import type { Marker, OpenSlack, Posted, SlackPort } from './slack-port.ts';

/** A row that is `sending` for longer was left by a killed process, or its answer was lost. A call takes 10 s at most. */
const lostMs = 20_000;
/** A process that was frozen for longer between claiming and posting does not post: another may have looked already. */
const freshMs = 5_000;
/** A reservation that was missed by more is made again, so that messages that waited do not leave together. */
const staleSlotMs = 5_000;
const mostLooks = 8;
const mostEditAttempts = 16;
const longestBackoffMs = 5 * 60_000;

type Row = Selectable<Schema['outbox']>;

export interface DeliverPorts {
  readonly slack: OpenSlack;
  readonly enqueue: Enqueue;
}

interface Delivery<Ports extends DeliverPorts> {
  readonly row: Row;
  readonly kind: MessageKind<never, Ports>;
  readonly context: JobContext<Ports>;
  readonly slack: SlackPort;
  /** Channel or user id. */
  readonly place: string;
  readonly thread: string | undefined;
}

/** The job that brings rows of the outbox to Slack, one at a time per row. */
export function createDeliverJob<Ports extends DeliverPorts>(
  kinds: readonly MessageKind<never, Ports>[],
): Job<{ id: string }, Ports> {
  const byName = new Map(kinds.map((kind) => [kind.kind, kind]));
  return {
    ...tell,
    async run(stored, context) {
      const { id } = stored as { id: string };
      const { db, ports, now, signal } = context;
      const row = await db.selectFrom('outbox').selectAll().where('id', '=', id).executeTakeFirst();
      if (!row || row.next_at === null) return;
      const kind = byName.get(row.kind);
      if (!kind) throw new Error(`the outbox has no message kind ${row.kind}`);
      // Woken early: by an edit, or by a clock that is ahead of this one.
      if (row.next_at.getTime() - now().getTime() > 1_000)
        return void (await ports.enqueue(tell, { id }, { key: id, at: row.next_at }));
      const installation = { enterpriseId: row.enterprise_id ?? undefined, teamId: row.team_id };
      const slack = ports.slack(installation, signal);
      const places = JSON.parse(row.places) as string[];
      const place = row.posted_in ?? places[row.place] ?? '';
      const delivery = { row, kind, context, slack, place, thread: undefined };
      if (row.state === 'sent') return showEdit(delivery);
      if (row.parent === null) return send(delivery);
      const parent = await findParent(row, context);
      if (parent === 'waiting') return;
      if (parent === 'gone') return end(delivery, { state: 'dead', reason: 'parent' });
      return send({ ...delivery, place: parent.channel, thread: parent.ts });
    },
  };
}

/** Enqueues rows whose job was lost. */
export const sweepOutboxJob = defineJob({
  name: 'outbox-sweep',
  cron: '* * * * *',
  data: z.object({}),
  retries: 0,
  async run(_data, { db, ports, now, log }: JobContext<DeliverPorts>) {
    const late = await db
      .selectFrom('outbox')
      .select('id')
      .where('next_at', '<', new Date(now().getTime() - 3 * lostMs))
      .orderBy('next_at')
      .limit(500)
      .execute();
    for (const { id } of late) await ports.enqueue(tell, { id }, { key: id });
    if (late.length > 0) log.info({ messages: late.length }, 'outbox messages enqueued again');
  },
});

/** Where a reply goes. `waiting`: the end of its parent, or of an earlier reply, enqueues it again. */
async function findParent(row: Row, { db }: JobContext): Promise<Posted | 'waiting' | 'gone'> {
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

async function send<Ports extends DeliverPorts>(delivery: Delivery<Ports>): Promise<void> {
  const { row, context, slack, place, thread } = delivery;
  const { db, now, signal, log } = context;
  if (row.state === 'sending') return lookForMessage(delivery);
  if (row.expires_at <= now()) return end(delivery, { state: 'dead', reason: 'expired' });
  if (!(await takeSlot(delivery, row.has_files ? 'files.share' : 'chat.postMessage'))) return;
  let message: Message | undefined;
  try {
    message = await render(delivery);
  } catch (error) {
    log.error({ message: row.id, error }, 'message could not be rendered');
    return tryAgain(delivery, backOff(row, now()), { attempts: row.attempts + 1 });
  }
  if (!message) return end(delivery, { state: 'dead', reason: 'withdrawn' });
  signal.throwIfAborted();

  const begun = performance.now();
  const claim = randomUUID();
  const at = now();
  const claimed = await db
    .updateTable('outbox')
    .set({
      state: 'sending',
      claim,
      claimed_at: at,
      first_at: row.first_at ?? at,
      next_at: new Date(at.getTime() + lostMs),
      shown: row.wanted,
      changed_at: at,
    })
    .where('id', '=', row.id)
    .where('state', '=', 'due')
    .where('claim', 'is', null)
    .where('place', '=', row.place)
    .returningAll()
    .executeTakeFirst();
  if (!claimed) return;
  const sending = { ...delivery, row: claimed };
  if (performance.now() - begun > freshMs) return tryAgain(sending, claimed.next_at ?? at, {});
  let posted: Partial<Posted> | undefined;
  try {
    if (row.has_files) {
      await slack.share(message.files ?? [], { channel: place, thread });
      posted = { channel: place };
    } else posted = await slack.post(place, message, { marker: markerOf(row), thread });
  } catch (error) {
    return sendFailed(sending, error);
  }
  await end(sending, { state: 'sent', ...posted });
}

async function sendFailed<Ports extends DeliverPorts>(
  delivery: Delivery<Ports>,
  error: unknown,
): Promise<void> {
  const { row, kind, context, place } = delivery;
  const { db, now, log } = context;
  const failure = classifySlackFailure(error);
  const again = { state: 'due', claim: null, slot: null } as const;
  switch (failure.kind) {
    case 'retry': {
      const until = new Date(now().getTime() + failure.afterMs);
      await pauseMethod(db, row.tenant, row.has_files ? 'files.share' : 'chat.postMessage', until);
      return tryAgain(delivery, until, again);
    }
    case 'unknown':
      log.warn({ message: row.id, place, code: failure.code }, 'message may have been posted or not');
      return tryAgain(delivery, new Date(now().getTime() + lostMs), {});
    case 'not-sent':
      log.error({ message: row.id, error }, 'message could not be sent');
      return tryAgain(delivery, backOff(row, now()), { ...again, attempts: row.attempts + 1 });
    case 'refused':
      if (kind.renderInstead && row.refusal === null) {
        const { code, reference } = failure;
        return tryAgain(delivery, now(), { ...again, refusal: JSON.stringify({ code, reference }) });
      }
      return refuse(delivery, failure);
    case 'place-gone':
    case 'app-gone':
      return refuse(delivery, failure);
  }
}

/** Goes on with the next place; the last one's refusal ends the message. */
async function refuse<Ports extends DeliverPorts>(
  delivery: Delivery<Ports>,
  { kind, code }: Extract<FailureClass, { kind: 'place-gone' | 'app-gone' | 'refused' }>,
): Promise<void> {
  const { row, context, place } = delivery;
  const places = JSON.parse(row.places) as string[];
  context.log.info({ message: row.id, place, code }, 'message was refused by a place');
  const first = row.code ?? code;
  if (kind === 'app-gone' || row.place + 1 >= places.length)
    return end(delivery, { state: 'dead', reason: kind, code: first });
  await tryAgain(delivery, context.now(), {
    state: 'due',
    claim: null,
    slot: null,
    first_at: null,
    looks: 0,
    place: row.place + 1,
    code: first,
  });
}

/** Looks for a message whose process died, or whose answer was lost, before anything is posted again. */
async function lookForMessage<Ports extends DeliverPorts>(delivery: Delivery<Ports>): Promise<void> {
  const { row, context, slack, place, thread } = delivery;
  const { now } = context;
  // Files carry no marker, and direct messages cannot be read.
  if (row.has_files || !/^[CG]/u.test(place)) return endInDoubt(delivery, 'cannot_look');
  if (row.looks >= mostLooks) return endInDoubt(delivery, 'too_often');
  const looked = { looks: row.looks + 1 };
  let found: Posted | undefined;
  try {
    found = await slack.find(markerOf(row), { channel: place, since: row.first_at ?? now(), thread });
  } catch (error) {
    const failure = classifySlackFailure(error);
    switch (failure.kind) {
      case 'retry':
        return tryAgain(delivery, new Date(now().getTime() + failure.afterMs), looked);
      case 'unknown':
      case 'not-sent':
        return tryAgain(delivery, new Date(now().getTime() + lostMs), looked);
      case 'refused':
        return endInDoubt(delivery, failure.code);
      case 'place-gone':
      case 'app-gone':
        return refuse(delivery, failure);
    }
  }
  if (found) return end(delivery, { state: 'sent', ...found });
  await tryAgain(delivery, now(), { ...looked, state: 'due', claim: null, slot: null });
}

async function endInDoubt<Ports extends DeliverPorts>(
  delivery: Delivery<Ports>,
  code: string,
): Promise<void> {
  const { row, context, place } = delivery;
  if (row.doubt === 'once') return end(delivery, { state: 'sent', channel: place, code });
  context.log.warn({ message: row.id, place, code }, 'unknown whether message was posted');
  await end(delivery, { state: 'unknown', code });
}

interface End extends Pick<Partial<Ended<never>>, 'reason' | 'code'> {
  readonly state: 'sent' | 'unknown' | 'dead';
  readonly channel?: string;
  readonly ts?: string;
}

/** Ends a message, once: what follows from it commits with it, and the messages that wait for it are enqueued. */
async function end<Ports extends DeliverPorts>(
  { row, kind, context, place }: Delivery<Ports>,
  { state, channel, ts, reason, code = refusalOf(row)?.code }: End,
): Promise<void> {
  const { db, ports, now, log } = context;
  if (state === 'dead') log.warn({ message: row.id, place, reason, code }, 'message was not delivered');
  const posted = channel !== undefined && ts !== undefined ? { channel, ts } : undefined;
  const about = JSON.parse(row.about) as never;
  const ended = { id: row.id, about, state, place, posted, reason, code: row.code ?? code };
  const store = async (trx: Transaction<Schema>): Promise<void> => {
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
        body: sql`case when wanted = ${row.wanted} then null else body end`,
        next_at: sql`case when wanted > shown and ${state} = 'sent' then ${at}::timestamptz end`,
        changed_at: at,
      })
      .where('id', '=', row.id)
      .where('state', '=', row.state)
      .where(sql<boolean>`claim is not distinct from ${row.claim}`)
      .returning('next_at')
      .executeTakeFirst();
    if (!stored) return;
    await kind.ended?.(trx, ended, context);
    const waiting = await findFollowers(trx, row);
    for (const id of [...(stored.next_at ? [row.id] : []), ...waiting])
      await ports.enqueue(tell, { id }, { in: trx, key: id });
  };
  // Slack has answered: without patience with the database (a deadlock, a restart) that answer would be lost.
  for (let tries = 1; ; tries += 1) {
    try {
      return await db.transaction().execute(store);
    } catch (error) {
      if (tries >= 5) throw error;
      log.warn({ message: row.id, error }, 'end of message could not be stored, trying again');
      await sleep(100 * 2 ** tries);
    }
  }
}

/** Its first reply, and the reply behind it. */
async function findFollowers(trx: Transaction<Schema>, row: Row): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    (select id from outbox where parent = ${row.id} and state = 'due' order by seq limit 1)
    union all
    (select id from outbox where parent = ${row.parent} and state = 'due' and seq > ${row.seq}
     order by seq limit 1)`.execute(trx);
  return rows.map(({ id }) => id);
}

/** Shows the newest body of a message that was sent. */
async function showEdit<Ports extends DeliverPorts>(delivery: Delivery<Ports>): Promise<void> {
  const { row, kind, context, slack } = delivery;
  const { db, now, log } = context;
  if (row.wanted <= row.shown) return;
  if (row.posted_in === null || row.ts === null) return giveUpEdit(delivery, 'no_message');
  if (!(await takeSlot(delivery, 'chat.update'))) return;
  try {
    const message = await render(delivery);
    if (message) await slack.update({ channel: row.posted_in, ts: row.ts }, message);
  } catch (error) {
    const failure = classifySlackFailure(error);
    if (failure.kind === 'retry') {
      const until = new Date(now().getTime() + failure.afterMs);
      await pauseMethod(db, row.tenant, 'chat.update', until);
      return tryAgain(delivery, until, { slot: null });
    }
    if (failure.kind === 'not-sent') log.error({ message: row.id, error }, 'message could not be edited');
    if ((failure.kind === 'unknown' || failure.kind === 'not-sent') && row.attempts < mostEditAttempts)
      return tryAgain(delivery, backOff(row, now()), { slot: null, attempts: row.attempts + 1 });
    if (failure.kind === 'refused' && kind.renderInstead && row.refusal === null) {
      const { code, reference } = failure;
      return tryAgain(delivery, now(), { slot: null, refusal: JSON.stringify({ code, reference }) });
    }
    log.info({ message: row.id, code: failure.code }, 'message can no longer be edited');
    return giveUpEdit(delivery, failure.code);
  }
  await db.transaction().execute((trx) => settleEdit(delivery, trx));
}

async function giveUpEdit<Ports extends DeliverPorts>(
  delivery: Delivery<Ports>,
  code: string,
): Promise<void> {
  const { row, kind, context } = delivery;
  await context.db.transaction().execute(async (trx) => {
    await settleEdit(delivery, trx);
    await kind.editFailed?.(trx, { id: row.id, about: JSON.parse(row.about) as never, code }, context);
  });
}

async function settleEdit<Ports extends DeliverPorts>(
  { row, context }: Delivery<Ports>,
  trx: Transaction<Schema>,
): Promise<void> {
  const { ports, now } = context;
  const settled = await trx
    .updateTable('outbox')
    .set({
      shown: row.wanted,
      slot: null,
      attempts: 0,
      body: sql`case when wanted = ${row.wanted} then null else body end`,
      next_at: sql`case when wanted > ${row.wanted} then ${now()}::timestamptz end`,
      changed_at: now(),
    })
    .where('id', '=', row.id)
    .where('shown', '<', row.wanted)
    .returning('next_at')
    .executeTakeFirst();
  if (settled?.next_at) await ports.enqueue(tell, { id: row.id }, { in: trx, key: row.id });
}

/** True when it is this call's turn. Else a job comes back at the reserved moment. */
async function takeSlot<Ports extends DeliverPorts>(
  delivery: Delivery<Ports>,
  method: Method,
): Promise<boolean> {
  const { row, context, place } = delivery;
  const { db, now } = context;
  const late = row.slot ? now().getTime() - row.slot.getTime() : Infinity;
  if (late <= staleSlotMs) return true;
  const slot = await reserveSlot(db, row.tenant, { method, channel: place }, now());
  if (slot <= now()) return true;
  await tryAgain(delivery, slot, { slot });
  return false;
}

type Change = Partial<
  Pick<Row, 'state' | 'claim' | 'slot' | 'place' | 'first_at' | 'looks' | 'attempts' | 'code' | 'refusal'>
>;

/** Has a job come back at that moment, unless the row has moved on meanwhile. */
async function tryAgain<Ports extends DeliverPorts>(
  { row, context }: Delivery<Ports>,
  at: Date,
  change: Change,
): Promise<void> {
  const { db, ports, now } = context;
  await db.transaction().execute(async (trx) => {
    const moved = await trx
      .updateTable('outbox')
      .set({ ...change, next_at: at, changed_at: now() })
      .where('id', '=', row.id)
      .where('state', '=', row.state)
      .where(sql<boolean>`claim is not distinct from ${row.claim}`)
      .returning('id')
      .executeTakeFirst();
    if (moved) await ports.enqueue(tell, { id: row.id }, { in: trx, key: row.id, at });
  });
}

function backOff({ attempts }: Row, now: Date): Date {
  return new Date(now.getTime() + Math.min(longestBackoffMs, 2_000 * 2 ** attempts));
}

async function render<Ports extends DeliverPorts>({
  row,
  kind,
  context,
  place,
}: Delivery<Ports>): Promise<Message | undefined> {
  const body = row.body === null ? undefined : (JSON.parse(row.body) as Message);
  const about = JSON.parse(row.about) as never;
  const refusal = refusalOf(row);
  if (refusal && kind.renderInstead) return kind.renderInstead(about, refusal, { ...context, place });
  return body ?? kind.render?.(about, { ...context, place });
}

function refusalOf(row: Row): Refusal | undefined {
  return row.refusal === null ? undefined : (JSON.parse(row.refusal) as Refusal);
}

function markerOf({ id }: Row): Marker {
  return { type: 'cdn_chatops', payload: { id } };
}
