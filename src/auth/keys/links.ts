import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Kysely } from 'kysely';
import { dayMs, minuteMs } from '../../lib/time.ts';
import { registerSecret } from '../../secrets/secret.ts';
import type { Schema } from '../../store/schema.ts';
import { type Person, tenantId } from '../identity.ts';
import {
  claimKeyLink,
  countRenewal,
  deleteKeyLinksOf,
  type EndOfLink,
  findKeyLink,
  type KeyLinkRow,
  putKeyLink,
  releaseKeyLink,
  useKeyLink,
  voidKeyLinks,
} from './link-queries.ts';
import type { Owner } from './linked-keys.ts';

/** The page on which one person enters their key. */
export interface KeyPage {
  /** A new one-time link for this person. The address is a secret of theirs. */
  offer(): Promise<{ readonly url: string; readonly minutes: number }>;
  /** Takes back the links this person has open. */
  close(): Promise<void>;
}

/** A link to the page where one person, and nobody else, gets a key connected. */
export interface KeyLink {
  /** The hash it is stored under: names it, opens nothing. */
  readonly id: string;
  readonly person: Person;
  /** Whom the page names, so that nobody enters a key for somebody else unawares. */
  readonly shownFor: string;
  readonly expiresAt: Date;
  readonly state: 'open' | 'expired' | EndOfLink;
}

interface NewKeyLink {
  /** 128 random bits in base64url. Kept nowhere: what is stored is its hash. */
  readonly token: string;
  readonly expiresAt: Date;
}

/** One check of one key: while somebody holds it, nobody else can use the link. */
interface Claim {
  /** The key works: ends this link and the person's other ones. False = it was taken back meanwhile: link nothing. */
  accept(): Promise<boolean>;
  /** Gives the link back. A refused key counts; after the last the link has ended. Says how many are left. */
  release(options: { readonly refused: boolean }): Promise<number>;
}

export interface KeyLinks {
  /** Makes a link; of the person's older ones the last two stay open. */
  offer(person: Person, shownFor: string): Promise<NewKeyLink>;
  /** What a token stands for. Ended links are known for a day, to be renewed. Changes nothing. */
  find(token: string): Promise<KeyLink | undefined>;
  /** Undefined = a key is being checked with it this moment, or the link has ended. */
  claim(token: string): Promise<Claim | undefined>;
  /** A new link in place of an ended one, for the same person. Undefined = asked for too often. */
  renew(token: string): Promise<(NewKeyLink & { readonly person: Person }) | undefined>;
  /** Takes back what a person has open. */
  close(person: Person): Promise<void>;
  /** Destroys all links of an organisation or workspace. */
  forgetTenant(tenant: string): Promise<void>;
}

const lifetimeMs = 10 * minuteMs;
const openAtOnce = 3;
const mostRefusals = 5;
// Longer than a check may take; should a process die in one, the link is free again after this.
const claimMs = 45_000;
const knownMs = dayMs;
const renewals = { most: 3, apartMs: minuteMs };

/** Minutes that a link works. */
export const keyLinkMinutes = lifetimeMs / minuteMs;

/** What a token looks like: 128 bits in base64url. */
export const tokenShape = '[\\w-]{22}';

export function createKeyLinks(options: { db: Kysely<Schema>; now: () => Date }): KeyLinks {
  const { db, now } = options;

  const offer = async (person: Person, shownFor: string): Promise<NewKeyLink> => {
    const token = randomBytes(16).toString('base64url');
    registerSecret('link-token', token);
    const made = now();
    const expiresAt = new Date(made.getTime() + lifetimeMs);
    await putKeyLink(db, {
      token_hash: hashOf(token),
      tenant: tenantId(person),
      user_id: person.userId,
      enterprise_id: person.enterpriseId ?? null,
      team_id: person.teamId,
      shown_for: shownFor,
      made_at: made,
      expires_at: expiresAt,
      refusals: 0,
      renewals: 0,
    });
    await voidKeyLinks(db, ownerOf(person), openAtOnce);
    return { token, expiresAt };
  };

  const find = async (token: string): Promise<KeyLink | undefined> => {
    registerSecret('link-token', token);
    const row = await findKeyLink(db, hashOf(token));
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
      const hash = hashOf(token);
      const id = randomBytes(12).toString('base64url');
      const at = now();
      const until = new Date(at.getTime() + claimMs);
      if (!(await claimKeyLink(db, hash, { id, now: at, until }))) return undefined;
      return {
        async accept() {
          if (!(await useKeyLink(db, hash, id))) return false;
          const row = await findKeyLink(db, hash);
          if (row) await voidKeyLinks(db, ownerOf(personOf(row)));
          return true;
        },
        async release({ refused }) {
          const row = await releaseKeyLink(db, hash, id, refused ? { mostRefusals } : undefined);
          return row && row.ended === null ? mostRefusals - row.refusals : 0;
        },
      };
    },
    async renew(token) {
      const link = await find(token);
      if (!link || link.state === 'open') return undefined;
      const at = now();
      const notSince = new Date(at.getTime() - renewals.apartMs);
      if (!(await countRenewal(db, hashOf(token), { now: at, notSince, most: renewals.most })))
        return undefined;
      return { ...(await offer(link.person, link.shownFor)), person: link.person };
    },
    close: (person) => voidKeyLinks(db, ownerOf(person)),
    forgetTenant: (tenant) => deleteKeyLinksOf(db, tenant),
  };
}

/** What a form of the page has to bring along: only the page of this very link can have it. */
export function createFormToken(token: string): string {
  return createHmac('sha256', token).update('cdn-chatops connect form').digest('base64url');
}

/** Whether this is that link's form token, in a time that tells nothing. */
export function isFormToken(token: string, given: string): boolean {
  // Hashes, since the comparison wants equal lengths.
  return timingSafeEqual(Buffer.from(hashOf(given)), Buffer.from(hashOf(createFormToken(token))));
}

function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

function ownerOf(person: Person): Owner {
  return { tenant: tenantId(person), userId: person.userId };
}

function personOf(row: KeyLinkRow): Person {
  return { enterpriseId: row.enterprise_id ?? undefined, teamId: row.team_id, userId: row.user_id };
}
