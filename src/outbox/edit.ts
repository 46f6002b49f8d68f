import { sql } from 'kysely';
import type { Trx } from '../store/schema.ts';
import { classifySlackFailure } from './classify-failure.ts';
import { backOff, type Delivery, render, retryOrReplace, takeSlot, tryAgain } from './delivery.ts';
import { enqueueDelivery } from './outbox.ts';

const mostEditAttempts = 16;

/** Shows the newest body of a message that was sent. */
export async function showEdit(delivery: Delivery): Promise<void> {
  const { row, context, slack } = delivery;
  const { db, now, log } = context;
  if (row.wanted <= row.shown) return;
  if (row.posted_in === null || row.ts === null) return giveUpEdit(delivery, 'no_message');
  if (!(await takeSlot(delivery, 'chat.update'))) return;
  try {
    const message = await render(delivery);
    if (message) await slack.update({ channel: row.posted_in, ts: row.ts }, message);
  } catch (error) {
    const failure = classifySlackFailure(error);
    if (await retryOrReplace(delivery, failure, 'chat.update', { slot: null })) return;
    if (failure.kind === 'not-sent') log.error({ message: row.id, error }, 'message could not be edited');
    if ((failure.kind === 'unknown' || failure.kind === 'not-sent') && row.attempts < mostEditAttempts)
      return tryAgain(delivery, backOff(row, now()), { slot: null, attempts: row.attempts + 1 });
    log.info({ message: row.id, code: failure.code }, 'message can no longer be edited');
    return giveUpEdit(delivery, failure.code);
  }
  await db.transaction().execute((trx) => storeEdit(delivery, trx));
}

async function giveUpEdit(delivery: Delivery, code: string): Promise<void> {
  const { row, kind, context } = delivery;
  await context.db.transaction().execute(async (trx) => {
    await storeEdit(delivery, trx);
    await kind.editFailed?.(trx, { id: row.id, about: JSON.parse(row.about) as never, code }, context);
  });
}

async function storeEdit({ row, context }: Delivery, trx: Trx): Promise<void> {
  const { ports, now } = context;
  const stored = await trx
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
  if (stored?.next_at) await enqueueDelivery(ports.enqueue, row, { in: trx });
}
