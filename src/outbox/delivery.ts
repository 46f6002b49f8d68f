import { setTimeout as sleep } from 'node:timers/promises';
import { type Selectable, sql } from 'kysely';
import type { JobContext } from '../store/queue/define-job.ts';
import type { Enqueue } from '../store/queue/queue.ts';
import type { Schema, Trx } from '../store/schema.ts';
import type { Message } from '../views/blocks/blocks.ts';
import type { FailureClass } from './classify-failure.ts';
import { type Ended, enqueueDelivery, type MessageKind, type Refusal } from './outbox.ts';
import { type Method, pauseMethod, reserveSlot } from './pace.ts';
import type { OpenSlack, SlackPort } from './slack-port.ts';

/** A reservation that was missed by more is made again, so that messages that waited do not leave together. */
const staleSlotMs = 5_000;
const longestBackoffMs = 5 * 60_000;

export type Row = Selectable<Schema['outbox']>;

export type DeliverPorts = { readonly slack: OpenSlack; readonly enqueue: Enqueue };

/** One row in the hands of its job. */
export interface Delivery {
  readonly row: Row;
  readonly kind: MessageKind<never, DeliverPorts>;
  readonly context: JobContext<DeliverPorts>;
  readonly slack: SlackPort;
  /** Channel or user id. */
  readonly place: string;
  readonly thread: string | undefined;
}

export async function render({ row, kind, context, place }: Delivery): Promise<Message | undefined> {
  const body = row.body === null ? undefined : (JSON.parse(row.body) as Message);
  const about = JSON.parse(row.about) as never;
  const refusal = refusalOf(row);
  if (refusal && kind.renderInstead) return kind.renderInstead(about, refusal, { ...context, place });
  return body ?? kind.render?.(about, { ...context, place });
}

function refusalOf(row: Row): Refusal | undefined {
  return row.refusal === null ? undefined : (JSON.parse(row.refusal) as Refusal);
}

/** True when it is this call's turn. Else a job comes back at the reserved moment. */
export async function takeSlot(delivery: Delivery, method: Method): Promise<boolean> {
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
export async function tryAgain({ row, context }: Delivery, at: Date, change: Change): Promise<void> {
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
    if (moved) await enqueueDelivery(ports.enqueue, row, { in: trx, at });
  });
}

/** Handles a failed post or edit: waits if Slack asks for it, or sends the replacement. */
export async function retryOrReplace(
  delivery: Delivery,
  failure: FailureClass,
  method: Method,
  released: Change,
): Promise<boolean> {
  const { row, kind, context } = delivery;
  const { db, now } = context;
  if (failure.kind === 'retry') {
    const until = new Date(now().getTime() + failure.afterMs);
    await pauseMethod(db, row.tenant, method, until);
    await tryAgain(delivery, until, released);
    return true;
  }
  if (failure.kind !== 'refused' || !kind.renderInstead || row.refusal !== null) return false;
  const { code, reference } = failure;
  await tryAgain(delivery, now(), { ...released, refusal: JSON.stringify({ code, reference }) });
  return true;
}

export function backOff({ attempts }: Row, now: Date): Date {
  return new Date(now.getTime() + Math.min(longestBackoffMs, 2_000 * 2 ** attempts));
}

interface End extends Pick<Partial<Ended<never>>, 'reason' | 'code'> {
  readonly state: 'sent' | 'unknown' | 'dead';
  readonly channel?: string;
  readonly ts?: string;
}

/** Ends a message, once: what follows from it commits with it, and the messages that wait for it are enqueued. */
export async function end(
  { row, kind, context, place }: Delivery,
  { state, channel, ts, reason, code = refusalOf(row)?.code }: End,
): Promise<void> {
  const { db, ports, now, log } = context;
  if (state === 'dead') log.warn({ message: row.id, place, reason, code }, 'message was not delivered');
  const posted = channel !== undefined && ts !== undefined ? { channel, ts } : undefined;
  const about = JSON.parse(row.about) as never;
  const { reference } = refusalOf(row) ?? {};
  const ended = { id: row.id, about, state, place, posted, reason, code: row.code ?? code, reference };
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
        // An edit that came between rendering and claiming is not shown yet.
        body: sql`case when ${state} = 'sent' and wanted > shown then body end`,
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
      await enqueueDelivery(ports.enqueue, { id, tenant: row.tenant }, { in: trx });
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
async function findFollowers(trx: Trx, row: Row): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    (select id from outbox where parent = ${row.id} and state = 'due' order by seq limit 1)
    union all
    (select id from outbox where parent = ${row.parent} and state = 'due' and seq > ${row.seq}
     order by seq limit 1)`.execute(trx);
  return rows.map(({ id }) => id);
}
