import { createHash, randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { dayMs, minuteMs } from '../../lib/time.ts';
import { registerSecret } from '../../secrets/secret.ts';
import type { Db } from '../../store/schema.ts';
import { ofPerson, type Person, readPerson, tenantId, toPersonColumns } from '../identity.ts';
import type { Sealer } from './sealing.ts';

export interface KeyPage {
  offer(): Promise<{ readonly url: string; readonly minutes: number }>;
  close(): Promise<void>;
}

/** `voided`: taken back. `refused`: after too many refused keys. */
type EndOfLink = 'used' | 'voided' | 'refused';

export interface KeyLink {
  readonly person: Person;
  readonly shownFor: string;
  readonly expiresAt: Date;
  readonly state: 'open' | 'expired' | EndOfLink;
}

export type KeyLinks = ReturnType<typeof createKeyLinks>;

const lifetimeMs = 10 * minuteMs;
const maxRefusals = 5;
const knownMs = dayMs;

export const keyLinkMinutes = lifetimeMs / minuteMs;

/** 128 random bits in base64url and 48 bits of their MAC in hexadecimal. */
export const tokenShape = '[\\w-]{22}[\\da-f]{12}';
const shape = new RegExp(`^${tokenShape}$`);

/** The one-time links to the page. Only the hash of a link's token is stored. */
export function createKeyLinks(options: { db: Db; sealer: Pick<Sealer, 'macs'>; now: () => Date }) {
  const { db, sealer, now } = options;
  const macsOf = (random: string): string[] =>
    sealer.macs(['key link', random]).map((mac) => mac.slice(0, 12));

  const update = (token: string) => db.updateTable('key_links').where('token_hash', '=', hashOf(token));

  const close = async (person: Person): Promise<void> => {
    await db
      .updateTable('key_links')
      .set({ ended: 'voided' })
      .where((is) => is.and({ ...ofPerson(person), ended: null }))
      .execute();
  };

  /** Makes a link. The ones before it end. */
  const offer = async (person: Person, shownFor: string): Promise<string> => {
    const random = randomBytes(16).toString('base64url');
    const token = `${random}${macsOf(random)[0]}`;
    registerSecret('link-token', token);
    await close(person);
    const made_at = now();
    const life = { made_at, expires_at: new Date(made_at.getTime() + lifetimeMs), refusals: 0, renewals: 0 };
    const row = { token_hash: hashOf(token), ...toPersonColumns(person), shown_for: shownFor, ...life };
    await db.insertInto('key_links').values(row).execute();
    return token;
  };

  const find = async (token: string): Promise<KeyLink | undefined> => {
    registerSecret('link-token', token);
    const rows = db.selectFrom('key_links').selectAll().where('token_hash', '=', hashOf(token));
    const row = await rows.executeTakeFirst();
    if (!row || now().getTime() - row.expires_at.getTime() > knownMs) return undefined;
    return {
      person: readPerson(row),
      shownFor: row.shown_for,
      expiresAt: row.expires_at,
      state: (row.ended as EndOfLink | null) ?? (row.expires_at <= now() ? 'expired' : 'open'),
    };
  };

  /** Takes one of a link's tries for the check of a key. Undefined: none is left, or the link has ended. */
  const claim = async (token: string) => {
    const open = update(token).where('ended', 'is', null);
    const { numUpdatedRows } = await open
      .set({ refusals: sql<number>`refusals + 1` })
      .where('expires_at', '>', now())
      .where('refusals', '<', maxRefusals)
      .executeTakeFirst();
    if (numUpdatedRows === 0n) return undefined;
    return {
      /** Ends this link. False = it was used or taken back meanwhile: link nothing. */
      async accept(): Promise<boolean> {
        // Refused keys may have ended it while this one was checked.
        const mine = update(token).where((is) =>
          is.or([is('ended', 'is', null), is('ended', '=', 'refused')]),
        );
        return (await mine.set({ ended: 'used' }).executeTakeFirst()).numUpdatedRows === 1n;
      },
      /** Gives the try back, unless the key was refused. Says how many are left. */
      async release({ refused }: { readonly refused: boolean }): Promise<number> {
        const given = refused ? { ended: endedByRefusals } : { refusals: sql<number>`refusals - 1` };
        const row = await open.set(given).returning(['ended', 'refusals']).executeTakeFirst();
        return row && row.ended === null ? maxRefusals - row.refusals : 0;
      },
    };
  };

  return {
    /** Whether this may be a token of this bot: guesses cost no look-up. */
    isToken: (text: string): boolean =>
      shape.test(text) && macsOf(text.slice(0, 22)).includes(text.slice(22)),
    offer,
    find,
    claim,
    close,
    async forget(whose: { tenant: string; team_id?: string; user_id?: string }): Promise<void> {
      await db
        .deleteFrom('key_links')
        .where((is) => is.and(whose))
        .execute();
    },
  };
}

const endedByRefusals = sql<EndOfLink | null>`case when refusals >= ${maxRefusals} then 'refused' end`;

function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

export interface ClientToken {
  readonly id: string;
  readonly name: string;
  readonly expiresAt: Date;
}

export type ClientTokens = ReturnType<typeof createClientTokens>;

const mostTokens = 10;
export const longestTokenDays = 90;

const clientTokenShape = /^cdn_[\w-]{43}$/u;

/** Tokens for clients. Only a hash is stored; each ends with the key that was connected when it was made. */
export function createClientTokens({ db, now }: { readonly db: Db; readonly now: () => Date }) {
  const valid = () =>
    db
      .selectFrom('client_tokens as token')
      .innerJoin('linked_keys as key', (on) =>
        on
          .onRef('key.tenant', '=', 'token.tenant')
          .onRef('key.user_id', '=', 'token.user_id')
          .onRef('key.version', '=', 'token.key_version'),
      )
      .where('token.expires_at', '>', now());

  const list = async (person: Person): Promise<ClientToken[]> => {
    const rows = await valid()
      .where('token.tenant', '=', tenantId(person))
      .where('token.user_id', '=', person.userId)
      .select(['token.token_hash as id', 'token.name', 'token.expires_at as expiresAt'])
      .orderBy('token.made_at', 'desc')
      .execute();
    return rows.map(({ id, ...rest }) => ({ id: id.slice(0, 12), ...rest }));
  };

  return {
    list,
    /** Undefined without a connected key, or with ten tokens already. */
    async make(person: Person, { name, days }: { readonly name: string; readonly days: number }) {
      const key = await db
        .selectFrom('linked_keys')
        .select('version')
        .where((is) => is.and(ofPerson(person)))
        .executeTakeFirst();
      if (!key || (await list(person)).length >= mostTokens) return undefined;
      const token = `cdn_${randomBytes(32).toString('base64url')}`;
      registerSecret('client-token', token);
      const made_at = now();
      const expires_at = new Date(made_at.getTime() + Math.min(days, longestTokenDays) * dayMs);
      const owner = { ...toPersonColumns(person), key_version: key.version };
      const row = { token_hash: hashOf(token), ...owner, name, made_at, expires_at };
      await db.insertInto('client_tokens').values(row).execute();
      return token;
    },
    async find(token: string): Promise<{ readonly person: Person; readonly name: string } | undefined> {
      if (!clientTokenShape.test(token)) return undefined;
      registerSecret('client-token', token);
      const row = await valid()
        .where('token.token_hash', '=', hashOf(token))
        .select(['token.enterprise_id', 'token.team_id', 'token.user_id', 'token.name'])
        .executeTakeFirst();
      return row && { person: readPerson(row), name: row.name };
    },
    async end(person: Person, id: string): Promise<boolean> {
      if (!/^[\da-f]{12}$/u.test(id)) return false;
      const { numDeletedRows } = await db
        .deleteFrom('client_tokens')
        .where((is) => is.and(ofPerson(person)))
        .where('token_hash', 'like', `${id}%`)
        .executeTakeFirst();
      return numDeletedRows > 0n;
    },
  };
}
