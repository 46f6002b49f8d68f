import { sql } from 'kysely';
import { z } from 'zod';
import { type Installation, tenantId } from '../auth/identity.ts';
import { dayMs } from '../lib/time.ts';
import type { Enqueue, EnqueueOptions, JobContext, JobRef } from '../store/queue.ts';
import type { Db, Trx } from '../store/schema.ts';
import type { Message } from '../views/blocks/blocks.ts';
import type { Posted } from './slack-port.ts';

/*
 * The outbox: every message that Slack must get exactly once. `put` stores a row and its job in the transaction
 * of what the message tells about; `deliver.ts` brings it to Slack.
 *
 *   due → sending → sent        posted; later edits only raise `wanted`, and the newest body is shown
 *                 ↘ unknown     Slack may have it, and the bot may not look
 *       ↘ dead                  every place refused, it expired, the app is gone, or its parent never arrived
 *
 * 1. The row comes first, then the job; both commit with the caller's transaction. The id is the idempotency key and the
 *    marker in the message's metadata: putting an id twice stores one message.
 * 2. Places are tried in order; the first that takes the message wins.
 * 3. A message is rendered when it is sent, and each edit when it is shown. Edits in between are never shown.
 * 4. Each post reserves the next free moment of its channel and of its workspace.
 * 5. A row that is `sending` for 20 s (a killed process, a lost answer) is looked for by its marker before it is posted
 *    again. Where the bot may not look, `doubt` decides: `look` ends as `unknown`, `once` is taken as sent, `retry` is
 *    posted again: three times in a place, then in the next; six times in the last, with growing pauses.
 * 6. A reply waits for its parent and for earlier replies to that parent, and goes where the parent went.
 * 7. A channel gets no post, reply or edit where others than this organization read it, or Slack does not say who does.
 * 8. `ended` of its kind runs in the transaction in which the row first is sent, unknown or dead, and never again.
 *
 * `commands/reports/life.ts` has small kinds and their `put`.
 */

export interface NewMessage<About> {
  /** Its idempotency key and marker: `digest:<id>:<due>:0`. Never a secret: every app in the channel may read it. */
  readonly id: string;
  readonly kind: MessageKind<About>;
  readonly about: About;
  readonly installation: Installation;
  readonly to: { readonly places: readonly string[] } | { readonly parent: string };
  /** Sent instead of what its kind renders. */
  readonly body?: Message | undefined;
  /** Where the bot may not look whether it arrived: `look` ends as `unknown`, `once` as sent, `retry` posts again. */
  readonly doubt: 'look' | 'once' | 'retry';
  /** A day from now unless told otherwise. */
  readonly expiresAt?: Date | undefined;
}

export interface MessageKind<in About, in Ports = never> {
  /** Its name in the database. */
  readonly kind: string;
  /** Undefined: nothing is left to tell. */
  readonly render?: (about: About, context: RenderContext<Ports>) => Rendered;
  /** Replaces a message that Slack or the secret scanner refuses: by its text alone unless told otherwise. Tried once. */
  readonly renderInstead?:
    | 'nothing'
    | ((about: About, refusal: Refusal, context: RenderContext<Ports>) => Rendered)
    | undefined;
  /** Runs in the transaction in which the message ends, once. */
  readonly ended?: (trx: Trx, message: Ended<About>, context: JobContext<Ports>) => Promise<void>;
  readonly editFailed?: (
    trx: Trx,
    message: { readonly id: string; readonly about: About; readonly code: string },
    context: JobContext<Ports>,
  ) => Promise<void>;
}

type Rendered = Message | undefined | Promise<Message | undefined>;

export type RenderContext<Ports> = JobContext<Ports> & {
  readonly place: string;
};

/** Why a message was refused: Slack's code, or `held_back` with the reference that is in the log. */
export type Refusal = { readonly code: string; readonly reference?: string | undefined };

export interface Ended<About> {
  readonly id: string;
  readonly about: About;
  readonly state: 'sent' | 'unknown' | 'dead';
  readonly place: string;
  readonly posted: Posted | undefined;
  readonly reason: DeadReason | undefined;
  /** Slack's word, of the first place that refused. With `sent`: why another place, or `renderInstead`, was used. */
  readonly code: string | undefined;
  readonly reference?: string | undefined;
}

export type DeadReason = 'place-gone' | 'app-gone' | 'refused' | 'expired' | 'parent' | 'withdrawn';

export const defineMessage = <About, Ports>(kind: MessageKind<About, Ports>): typeof kind => kind;

export const deliverMessage: JobRef<{ id: string }> = {
  name: 'deliver-message',
  onePerKey: 'running',
  // Kills count; the row itself knows when to give up.
  retries: 30,
  timeLimitSeconds: 120,
  atOnce: 6,
  encode: (data) => z.object({ id: z.string() }).parse(data),
};

export async function enqueueDelivery(
  enqueue: Enqueue,
  { id, tenant }: { readonly id: string; readonly tenant: string },
  options: Pick<EnqueueOptions, 'in' | 'at'> = {},
): Promise<void> {
  await enqueue(deliverMessage, { id }, { ...options, key: id, tenant });
}

export type Outbox = ReturnType<typeof createOutbox>;

export function createOutbox(options: { readonly enqueue: Enqueue; readonly now: () => Date }) {
  const { enqueue, now } = options;
  return {
    /** Stores a message. False where its id is there already. */
    async put<About>(trx: Trx, message: NewMessage<About>): Promise<boolean> {
      const { id, kind, about, installation, to, body, doubt, expiresAt } = message;
      const at = now();
      const tenant = tenantId(installation);
      const { numInsertedOrUpdatedRows = 0n } = await trx
        .insertInto('outbox')
        .values({
          id,
          tenant,
          enterprise_id: installation.enterpriseId ?? null,
          team_id: installation.teamId,
          kind: kind.kind,
          about: JSON.stringify(about),
          body: body ? JSON.stringify(body) : null,
          places: JSON.stringify('places' in to ? to.places : []),
          parent: 'parent' in to ? to.parent : null,
          doubt,
          state: 'due',
          next_at: at,
          expires_at: expiresAt ?? new Date(at.getTime() + dayMs),
          changed_at: at,
        })
        .onConflict((conflict) => conflict.column('id').doNothing())
        .executeTakeFirst();
      if (numInsertedOrUpdatedRows === 0n) return false;
      await enqueueDelivery(enqueue, { id, tenant }, { in: trx });
      return true;
    },
    /** Renders a message again, and updates it in Slack where it was sent. False where it is dead, unknown or missing. */
    async edit(trx: Trx, id: string): Promise<boolean> {
      const row = await trx
        .updateTable('outbox')
        .set({
          wanted: sql`wanted + 1`,
          refusal: null,
          changed_at: now(),
          next_at: sql`case when state = 'sent' then ${now()}::timestamptz else next_at end`,
        })
        .where('id', '=', id)
        .where('state', 'in', ['due', 'sending', 'sent'])
        .returning(['id', 'tenant', 'state'])
        .executeTakeFirst();
      if (row?.state === 'sent') await enqueueDelivery(enqueue, row, { in: trx });
      return row !== undefined;
    },
    async find(db: Db, id: string) {
      const row = await db
        .selectFrom('outbox')
        .select(['state', 'posted_in as channel', 'ts', 'changed_at as changedAt'])
        .where('id', '=', id)
        .executeTakeFirst();
      if (!row) return undefined;
      const { state, channel, ts, changedAt } = row;
      return { state, posted: channel !== null && ts !== null ? { channel, ts } : undefined, changedAt };
    },
  };
}
