import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { type Selectable, sql } from 'kysely';
import { dayMs, minuteMs } from '../../lib/time.ts';
import { registerSecret } from '../../secrets/secret.ts';
import type { Db, Schema } from '../../store/schema.ts';
import { type Person, tenantId } from '../identity.ts';
import type { Sealer } from './sealing.ts';

export interface KeyPage {
  offer(): Promise<{ readonly url: string; readonly minutes: number }>;
  close(): Promise<void>;
}

/** `voided`: taken back. `refused`: after too many refused keys. */
type EndOfLink = 'used' | 'voided' | 'refused';

export interface KeyLink {
  /** The hash it is stored under: names it, opens nothing. */
  readonly id: string;
  readonly person: Person;
  /** The name on the page, so that people notice a link that is not theirs. */
  readonly shownFor: string;
  readonly expiresAt: Date;
  readonly state: 'open' | 'expired' | EndOfLink;
}

export type KeyLinks = ReturnType<typeof createKeyLinks>;

const lifetimeMs = 10 * minuteMs;
const openAtOnce = 3;
const maxRefusals = 5;
// Longer than a check may take; if the process dies in one, the link is free again after this.
const claimMs = 45_000;
/** An ended link still says so for this long. */
const knownMs = dayMs;

export const keyLinkMinutes = lifetimeMs / minuteMs;

/** The form of a token: 128 random bits in base64url and 48 bits of their MAC in hexadecimal. */
export const tokenShape = '[\\w-]{22}[\\da-f]{12}';
const shape = new RegExp(`^${tokenShape}$`);

/** The one-time links to the page. Only the hash of a link's token is stored. */
export function createKeyLinks(options: { db: Db; sealer: Pick<Sealer, 'macs'>; now: () => Date }) {
  const { db, sealer, now } = options;
  const macsOf = (random: string): string[] =>
    sealer.macs(['key link', random]).map((mac) => mac.slice(0, 12));

  const update = (token: string) => db.updateTable('key_links').where('token_hash', '=', hashOf(token));

  /** Takes back a person's open links, except the newest `keep`. */
  const close = async (person: Person, keep = 0): Promise<void> => {
    const open = { tenant: tenantId(person), user_id: person.userId, ended: null };
    const newest = db
      .selectFrom('key_links')
      .select('token_hash')
      .where((is) => is.and(open))
      // The hash orders two of one millisecond, so that every process keeps the same ones.
      .orderBy('made_at', 'desc')
      .orderBy('token_hash')
      .limit(keep);
    await db
      .updateTable('key_links')
      .set({ ended: 'voided' })
      .where((is) => is.and(open))
      .where('token_hash', 'not in', newest)
      .execute();
  };

  /** Makes a link; of the person's older ones the last two stay open. */
  const offer = async (person: Person, shownFor: string): Promise<{ token: string; expiresAt: Date }> => {
    const random = randomBytes(16).toString('base64url');
    const token = `${random}${macsOf(random)[0]}`;
    registerSecret('link-token', token);
    const made_at = now();
    const expiresAt = new Date(made_at.getTime() + lifetimeMs);
    const { enterpriseId: enterprise_id = null, teamId: team_id, userId: user_id } = person;
    const owner = { tenant: tenantId(person), enterprise_id, team_id, user_id, shown_for: shownFor };
    const life = { made_at, expires_at: expiresAt, refusals: 0, renewals: 0 };
    await db
      .insertInto('key_links')
      .values({ token_hash: hashOf(token), ...owner, ...life })
      .execute();
    await close(person, openAtOnce);
    return { token, expiresAt };
  };

  /** The link of a token. Ended links are found for a day. Changes nothing. */
  const find = async (token: string): Promise<KeyLink | undefined> => {
    registerSecret('link-token', token);
    const rows = db.selectFrom('key_links').selectAll().where('token_hash', '=', hashOf(token));
    const row = await rows.executeTakeFirst();
    if (!row || now().getTime() - row.expires_at.getTime() > knownMs) return undefined;
    return {
      id: row.token_hash,
      person: personOf(row),
      shownFor: row.shown_for,
      expiresAt: row.expires_at,
      state: (row.ended as EndOfLink | null) ?? (row.expires_at <= now() ? 'expired' : 'open'),
    };
  };

  /** Holds a link for one check of one key. Undefined = another check holds it, or the link has ended. */
  const claim = async (token: string) => {
    const id = randomBytes(12).toString('base64url');
    const at = now();
    const { numUpdatedRows } = await update(token)
      .set({ claim: id, claimed_until: new Date(at.getTime() + claimMs) })
      .where('ended', 'is', null)
      .where('expires_at', '>', at)
      .where((is) => is.or([is('claim', 'is', null), is('claimed_until', '<=', at)]))
      .executeTakeFirst();
    if (numUpdatedRows === 0n) return undefined;
    const release = update(token)
      .set({ claim: null, claimed_until: null })
      .where('claim', '=', id)
      .returningAll();
    return {
      /** The key works: ends this link and the person's other ones. False = it was taken back meanwhile: link nothing. */
      async accept(): Promise<boolean> {
        const row = await release.set({ ended: 'used' }).where('ended', 'is', null).executeTakeFirst();
        if (row) await close(personOf(row));
        return row !== undefined;
      },
      /** Gives the link back. A refused key counts; after the last the link has ended. Says how many are left. */
      async release({ refused }: { readonly refused: boolean }): Promise<number> {
        const row = await release.set(refused ? countRefusal : {}).executeTakeFirst();
        return row && row.ended === null ? maxRefusals - row.refusals : 0;
      },
    };
  };

  return {
    /** Whether this may be a token of this bot; without a look-up, so that guesses cost nothing. */
    isToken: (text: string): boolean =>
      shape.test(text) && macsOf(text.slice(0, 22)).includes(text.slice(22)),
    offer,
    find,
    claim,
    close: (person: Person) => close(person),
    /** Destroys all links of a tenant, or of one of its workspaces or people. */
    async forget(whose: { tenant: string; team_id?: string; user_id?: string }): Promise<void> {
      await db
        .deleteFrom('key_links')
        .where((is) => is.and(whose))
        .execute();
    },
  };
}

/** The last refusal ends the link. */
const countRefusal = {
  refusals: sql<number>`refusals + 1`,
  ended: sql<EndOfLink | null>`case when refusals + 1 >= ${maxRefusals} then 'refused' else ended end`,
};

export function createFormToken(token: string): string {
  return createHmac('sha256', token).update('cdn-chatops connect form').digest('base64url');
}

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
