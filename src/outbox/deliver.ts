import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { defineJob, type Job, type JobContext } from '../store/queue/define-job.ts';
import type { Message } from '../views/blocks/blocks.ts';
import { classifySlackFailure, type FailureClass } from './classify-failure.ts';
import {
  backOff,
  type DeliverPorts,
  type Delivery,
  end,
  type Row,
  render,
  retryOrReplace,
  takeSlot,
  tryAgain,
} from './delivery.ts';
import { showEdit } from './edit.ts';
import { deliverMessage, enqueueDelivery, type MessageKind } from './outbox.ts';
import type { Posted } from './slack-port.ts';

/** A row that is `sending` for longer was left by a killed process, or its answer was lost. A call takes 10 s at most. */
const lostMs = 20_000;
/** A process that was frozen for longer between claiming and posting does not post: another may have looked already. */
const freshMs = 5_000;
const mostLooks = 8;
/** Posts into one place of a message that is better read twice than never. */
const mostUncertainPosts = 3;

/** The job that brings rows of the outbox to Slack, one at a time per row. */
export function createDeliverJob<Ports extends DeliverPorts>(
  kinds: readonly MessageKind<never, Ports>[],
): Job<{ id: string }, Ports> {
  // The context that reaches a kind's functions is the job's own, with all its ports.
  const byName = new Map(
    kinds.map((kind) => [kind.kind, kind as unknown as MessageKind<never, DeliverPorts>]),
  );
  return {
    ...deliverMessage,
    async run(stored, context) {
      const { id } = stored as { id: string };
      const { db, ports, now, signal } = context;
      const row = await db.selectFrom('outbox').selectAll().where('id', '=', id).executeTakeFirst();
      if (!row || row.next_at === null) return;
      const kind = byName.get(row.kind);
      if (!kind) throw new Error(`the outbox has no message kind ${row.kind}`);
      // Woken early: by an edit, or by a clock that is ahead of this one.
      if (row.next_at.getTime() - now().getTime() > 1_000)
        return enqueueDelivery(ports.enqueue, row, { at: row.next_at });
      const installation = { enterpriseId: row.enterprise_id ?? undefined, teamId: row.team_id };
      const slack = ports.slack(installation, signal);
      const places = JSON.parse(row.places) as string[];
      const place = row.posted_in ?? places[row.place] ?? '';
      const delivery: Delivery = { row, kind, context, slack, place, thread: undefined };
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
      .select(['id', 'tenant'])
      .where('next_at', '<', new Date(now().getTime() - 3 * lostMs))
      .orderBy('next_at')
      .limit(500)
      .execute();
    for (const row of late) await enqueueDelivery(ports.enqueue, row);
    if (late.length > 0) log.info({ messages: late.length }, 'outbox messages enqueued again');
  },
});

/** The thread of a reply. `waiting`: the end of its parent, or of an earlier reply, enqueues it again. */
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

async function send(delivery: Delivery): Promise<void> {
  const { row, context, slack, place, thread } = delivery;
  const { db, now, signal, log } = context;
  if (row.state === 'sending') return lookForMessage(delivery);
  if (row.expires_at <= now()) return end(delivery, { state: 'dead', reason: 'expired' });
  if (!(await takeSlot(delivery, 'chat.postMessage'))) return;
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
  let posted: Posted;
  try {
    posted = await slack.post(place, message, { id: row.id, thread });
  } catch (error) {
    return sendFailed(sending, error);
  }
  await end(sending, { state: 'sent', ...posted });
}

// Nothing was posted: any attempt may take the row.
const released = { state: 'due', claim: null, slot: null } as const;

async function sendFailed(delivery: Delivery, error: unknown): Promise<void> {
  const { row, context, place } = delivery;
  const { now, log } = context;
  const failure = classifySlackFailure(error);
  if (await retryOrReplace(delivery, failure, 'chat.postMessage', released)) return;
  if (failure.kind === 'unknown') {
    log.warn({ message: row.id, place, code: failure.code }, 'message may have been posted or not');
    return tryAgain(delivery, new Date(now().getTime() + lostMs), {});
  }
  if (failure.kind === 'not-sent') {
    log.error({ message: row.id, error }, 'message could not be sent');
    return tryAgain(delivery, backOff(row, now()), { ...released, attempts: row.attempts + 1 });
  }
  if (failure.kind !== 'retry') await refuse(delivery, failure);
}

/** Goes on with the next place; the last one's refusal ends the message. */
async function refuse(
  delivery: Delivery,
  { kind, code }: Extract<FailureClass, { kind: 'place-gone' | 'app-gone' | 'refused' }>,
): Promise<void> {
  const { row, context, place } = delivery;
  const places = JSON.parse(row.places) as string[];
  context.log.info({ message: row.id, place, code }, 'message was refused by a place');
  const first = row.code ?? code;
  if (kind === 'app-gone' || row.place + 1 >= places.length)
    return end(delivery, { state: 'dead', reason: kind, code: first });
  const next = { place: row.place + 1, first_at: null, looks: 0, code: first };
  await tryAgain(delivery, context.now(), { ...released, ...next });
}

/** Posts a message again that has not arrived, or may not have; after several posts without an answer into the next place. */
async function postAgain(delivery: Delivery): Promise<void> {
  const { row, context, place } = delivery;
  const looks = row.looks + 1;
  if (row.doubt !== 'retry' || looks < mostUncertainPosts)
    return tryAgain(delivery, context.now(), { ...released, looks });
  context.log.warn({ message: row.id, place }, 'unknown whether message was posted');
  const places = JSON.parse(row.places) as string[];
  if (row.place + 1 >= places.length)
    return end(delivery, { state: 'unknown', code: row.code ?? 'no_answer' });
  const next = { place: row.place + 1, first_at: null, looks: 0, code: row.code ?? 'no_answer' };
  await tryAgain(delivery, context.now(), { ...released, ...next });
}

/** Looks for a message whose process died, or whose answer was lost, before anything is posted again. */
async function lookForMessage(delivery: Delivery): Promise<void> {
  const { row, context, slack, place, thread } = delivery;
  const { now } = context;
  // Direct messages cannot be read.
  if (!/^[CG]/u.test(place)) return endInDoubt(delivery, 'cannot_look');
  if (row.looks >= mostLooks) return endInDoubt(delivery, 'too_often');
  const looked = { looks: row.looks + 1 };
  let found: Posted | undefined;
  try {
    found = await slack.find(row.id, { channel: place, since: row.first_at ?? now(), thread });
  } catch (error) {
    const failure = classifySlackFailure(error);
    if (failure.kind === 'refused') return endInDoubt(delivery, failure.code);
    if (failure.kind === 'place-gone' || failure.kind === 'app-gone') return refuse(delivery, failure);
    const afterMs = failure.kind === 'retry' ? failure.afterMs : lostMs;
    return tryAgain(delivery, new Date(now().getTime() + afterMs), looked);
  }
  if (found) return end(delivery, { state: 'sent', ...found });
  await postAgain(delivery);
}

async function endInDoubt(delivery: Delivery, code: string): Promise<void> {
  const { row, context, place } = delivery;
  if (row.doubt === 'retry') return postAgain(delivery);
  if (row.doubt === 'once') return end(delivery, { state: 'sent', channel: place, code });
  context.log.warn({ message: row.id, place, code }, 'unknown whether message was posted');
  await end(delivery, { state: 'unknown', code });
}
