import { createHash, randomBytes } from 'node:crypto';
import { dayMs } from '../../lib/time.ts';
import { registerSecret } from '../../secrets/secret.ts';
import type { Db } from '../../store/schema.ts';
import { type Person, readPerson, tenantId, toPersonColumns } from '../identity.ts';

export interface ClientToken {
  readonly id: string;
  readonly name: string;
  readonly expiresAt: Date;
}

export type ClientTokens = ReturnType<typeof createClientTokens>;

const mostTokens = 10;
export const longestTokenDays = 90;

const shape = /^cdn_[\w-]{43}$/u;

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
      await db
        .insertInto('client_tokens')
        .values({ token_hash: hashOf(token), ...owner, name, made_at, expires_at })
        .execute();
      return { token, expiresAt: expires_at };
    },
    async find(token: string): Promise<{ readonly person: Person; readonly name: string } | undefined> {
      if (!shape.test(token)) return undefined;
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

function ofPerson(person: Person) {
  return { tenant: tenantId(person), user_id: person.userId };
}

function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}
