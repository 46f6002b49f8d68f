import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { type Kysely, type Selectable, sql } from 'kysely';
import { dayMs, minuteMs } from '../../lib/time.ts';
import { registerSecret } from '../../secrets/secret.ts';
import type { Schema } from '../../store/schema.ts';
import { type Person, tenantId } from '../identity.ts';

/** The page on which one person enters their key. */
export interface KeyPage {
  /** A new one-time link for this person. The address is a secret of theirs. */
  offer(): Promise<{ readonly url: string; readonly minutes: number }>;
  /** Takes back the links this person has open. */
  close(): Promise<void>;
}

/** How a link ended before it expired: a key was connected with it, it was taken back, or too many keys were refused. */
type EndOfLink = 'used' | 'voided' | 'refused';

/** A link to the page that connects a key for one person. */
export interface KeyLink {
  /** The hash it is stored under: names it, opens nothing. */
  readonly id: string;
  readonly person: Person;
  /** The name on the page, so that people notice a link that is not theirs. */
  readonly shownFor: string;
  readonly expiresAt: Date;
  readonly state: 'open' | 'expired' | EndOfLink;
}

interface NewKeyLink {
  /** 128 random bits in base64url. Only its hash is stored. */
  readonly token: string;
  readonly expiresAt: Date;
}

/** One check of one key. While it is held, the link cannot be used otherwise. */
interface Claim {
  /** The key works: ends this link and the person's other ones. False = it was taken back meanwhile: link nothing. */
  accept(): Promise<boolean>;
  /** Gives the link back. A refused key counts; after the last the link has ended. Says how many are left. */
  release(options: { readonly refused: boolean }): Promise<number>;
}

export interface KeyLinks {
  /** Makes a link; of the person's older ones the last two stay open. */
  offer(person: Person, shownFor: string): Promise<NewKeyLink>;
  /** The link of a token. Ended links are found for a day, to be renewed. Changes nothing. */
  find(token: string): Promise<KeyLink | undefined>;
  /** Undefined = a key is being checked with it this moment, or the link has ended. */
  claim(token: string): Promise<Claim | undefined>;
  /** A new link in place of an ended one, for the same person. Undefined = asked for too often. */
  renew(token: string): Promise<(NewKeyLink & { readonly person: Person }) | undefined>;
  /** Takes back a person's open links. */
  close(person: Person): Promise<void>;
  /** Destroys all links of an organisation or workspace. */
  forgetTenant(tenant: string): Promise<void>;
}

const lifetimeMs = 10 * minuteMs;
const openAtOnce = 3;
const maxRefusals = 5;
// Longer than a check may take; if the process dies in one, the link is free again after this.
const claimMs = 45_000;
/** An ended link still says so, and offers a new one, for this long. */
const knownMs = dayMs;
const maxRenewals = 3;
const renewalGapMs = minuteMs;

/** Minutes that a link works. */
export const keyLinkMinutes = lifetimeMs / minuteMs;

/** The form of a token: 128 bits in base64url. */
export const tokenShape = '[\\w-]{22}';

export function createKeyLinks(options: { db: Kysely<Schema>; now: () => Date }): KeyLinks {
  const { db, now } = options;

  const findRow = (token: string) =>
    db.selectFrom('key_links').selectAll().where('token_hash', '=', hashOf(token)).executeTakeFirst();

  const update = (token: string) => db.updateTable('key_links').where('token_hash', '=', hashOf(token));

  /** Takes back the open links of one person, except the newest `keep`. */
  const voidLinks = async (person: Person, keep = 0): Promise<void> => {
    const newest = db
      .selectFrom('key_links')
      .select('token_hash')
      .where('tenant', '=', tenantId(person))
      .where('user_id', '=', person.userId)
      .where('ended', 'is', null)
      // The hash orders two of one millisecond, so that every process keeps the same ones.
      .orderBy('made_at', 'desc')
      .orderBy('token_hash')
      .limit(keep);
    await db
      .updateTable('key_links')
      .set({ ended: 'voided' })
      .where('tenant', '=', tenantId(person))
      .where('user_id', '=', person.userId)
      .where('ended', 'is', null)
      .where('token_hash', 'not in', newest)
      .execute();
  };

  const offer = async (person: Person, shownFor: string): Promise<NewKeyLink> => {
    const token = randomBytes(16).toString('base64url');
    registerSecret('link-token', token);
    const madeAt = now();
    const expiresAt = new Date(madeAt.getTime() + lifetimeMs);
    await db
      .insertInto('key_links')
      .values({
        token_hash: hashOf(token),
        tenant: tenantId(person),
        user_id: person.userId,
        enterprise_id: person.enterpriseId ?? null,
        team_id: person.teamId,
        shown_for: shownFor,
        made_at: madeAt,
        expires_at: expiresAt,
        refusals: 0,
        renewals: 0,
      })
      .execute();
    await voidLinks(person, openAtOnce);
    return { token, expiresAt };
  };

  const find = async (token: string): Promise<KeyLink | undefined> => {
    registerSecret('link-token', token);
    const row = await findRow(token);
    if (!row || now().getTime() - row.expires_at.getTime() > knownMs) return undefined;
    return {
      id: row.token_hash,
      person: personOf(row),
      shownFor: row.shown_for,
      expiresAt: row.expires_at,
      state: (row.ended as EndOfLink | null) ?? (row.expires_at <= now() ? 'expired' : 'open'),
    };
  };

  return {
    offer,
    find,
    async claim(token) {
      const claim = randomBytes(12).toString('base64url');
      const at = now();
      const claimed = await update(token)
        .set({ claim, claimed_until: new Date(at.getTime() + claimMs) })
        .where('ended', 'is', null)
        .where('expires_at', '>', at)
        .where((is) => is.or([is('claim', 'is', null), is('claimed_until', '<=', at)]))
        .executeTakeFirst();
      if (claimed.numUpdatedRows === 0n) return undefined;
      const free = { claim: null, claimed_until: null };
      return {
        async accept() {
          const row = await update(token)
            .set({ ...free, ended: 'used' })
            .where('claim', '=', claim)
            .where('ended', 'is', null)
            .returningAll()
            .executeTakeFirst();
          if (row) await voidLinks(personOf(row));
          return row !== undefined;
        },
        async release({ refused }) {
          const row = await update(token)
            .set(refused ? { ...free, ...countRefusal } : free)
            .where('claim', '=', claim)
            .returningAll()
            .executeTakeFirst();
          return row && row.ended === null ? maxRefusals - row.refusals : 0;
        },
      };
    },
    async renew(token) {
      const link = await find(token);
      if (!link || link.state === 'open') return undefined;
      const at = now();
      const renewed = await update(token)
        .set({ renewals: sql<number>`renewals + 1`, renewed_at: at })
        .where('renewals', '<', maxRenewals)
        .where((is) =>
          is.or([
            is('renewed_at', 'is', null),
            is('renewed_at', '<=', new Date(at.getTime() - renewalGapMs)),
          ]),
        )
        .executeTakeFirst();
      if (renewed.numUpdatedRows === 0n) return undefined;
      return { ...(await offer(link.person, link.shownFor)), person: link.person };
    },
    close: (person) => voidLinks(person),
    async forgetTenant(tenant) {
      await db.deleteFrom('key_links').where('tenant', '=', tenant).execute();
    },
  };
}

/** The last refusal ends the link. */
const countRefusal = {
  refusals: sql<number>`refusals + 1`,
  ended: sql<EndOfLink | null>`case when refusals + 1 >= ${maxRefusals} then 'refused' else ended end`,
};

/** The hidden field that proves a form came from the page of this very link. */
export function createFormToken(token: string): string {
  return createHmac('sha256', token).update('cdn-chatops connect form').digest('base64url');
}

/** Compares in constant time. */
export function isFormToken(token: string, given: string): boolean {
  // Hashes, since the comparison needs equal lengths.
  return timingSafeEqual(Buffer.from(hashOf(given)), Buffer.from(hashOf(createFormToken(token))));
}

function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

function personOf(row: Selectable<Schema['key_links']>): Person {
  return { enterpriseId: row.enterprise_id ?? undefined, teamId: row.team_id, userId: row.user_id };
}
