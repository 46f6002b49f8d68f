import { tenantId } from '../auth/identity.ts';
import { findPending, type PendingChange, type PendingMessages, pendingMs } from '../auth/policy/pending.ts';
import { defineMessage, type Ended, type Outbox, type RenderContext } from '../outbox/outbox.ts';
import type { JobContext } from '../store/queue/define-job.ts';
import type { Trx } from '../store/schema.ts';
import { renderPendingCard, renderPendingOutcome } from '../views/settings/pending.ts';

interface About {
  readonly tenant: string;
  readonly id: string;
}

type Ports = { readonly outbox: Outbox };

/** To each other admin, in their direct messages. Changed in place when it is decided. */
const pendingCard = defineMessage({
  kind: 'settings-pending',
  async render({ tenant, id }: About, { db, now }: RenderContext<Ports>) {
    const change = await findPending(db, tenant, now(), id);
    return change && renderPendingCard(change);
  },
});

/** To the author, once it has ended. */
const pendingOutcome = defineMessage({
  kind: 'settings-outcome',
  async render({ tenant, id }: About, { db, now }: RenderContext<Ports>) {
    const change = await findPending(db, tenant, now(), id);
    return change && change.state !== 'waiting' ? renderPendingOutcome(change) : undefined;
  },
  // What was decided in time has changed the cards already; after an expiry their buttons go.
  async ended(trx, { about: { tenant, id } }: Ended<About>, { ports, now }: JobContext<Ports>) {
    const change = await findPending(trx, tenant, now(), id);
    if (change?.state === 'expired') await editCards(trx, ports.outbox, change);
  },
});

export const pendingSettingsMessages = [pendingCard, pendingOutcome];

/** Stores the messages about a change of settings that waits for a second admin. */
export function createPendingMessages(outbox: Outbox): PendingMessages {
  const putOutcome = (trx: Trx, { author, id, expiresAt }: PendingChange, notBefore?: Date) =>
    outbox.put(trx, {
      id: `settings:${id}:${notBefore ? 'expiry' : 'outcome'}`,
      kind: pendingOutcome,
      about: { tenant: tenantId(author), id },
      installation: author,
      to: { places: [author.userId] },
      doubt: 'once',
      notBefore,
      expiresAt: new Date(expiresAt.getTime() + pendingMs),
    });
  return {
    async queue(trx, change) {
      const { author, id, told, expiresAt } = change;
      for (const userId of told)
        await outbox.put(trx, {
          id: cardId(id, userId),
          kind: pendingCard,
          about: { tenant: tenantId(author), id },
          installation: author,
          to: { places: [userId] },
          doubt: 'once',
          expiresAt,
        });
      // Told only if it expires: a decision takes this message back.
      await putOutcome(trx, change, new Date(expiresAt.getTime() + 5_000));
    },
    async ended(trx, change) {
      await editCards(trx, outbox, change);
      const untold = await outbox.cancel(trx, `settings:${change.id}:expiry`);
      if (untold && change.decidedBy !== change.author.userId) await putOutcome(trx, change);
    },
  };
}

async function editCards(trx: Trx, outbox: Outbox, { id, told }: PendingChange): Promise<void> {
  for (const userId of told) await outbox.edit(trx, cardId(id, userId));
}

function cardId(id: string, userId: string): string {
  return `settings:${id}:${userId}`;
}
