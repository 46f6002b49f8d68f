import type { Generated } from 'kysely';
import { createTables, type Maybe, type Moment, type Version } from './columns.ts';

export interface KeyTables {
  linked_keys: LinkedKeys;
  installations: Installations;
  installation_users: InstallationUsers;
  key_links: KeyLinks;
  sealed_versions: SealedVersions;
  keyring_keys: KeyringKeys;
  keyring_members: KeyringMembers;
}

/** One CDN key a person. `tenant` is the scope that `user_id` is unique in: the Enterprise organisation or the workspace. */
interface LinkedKeys {
  tenant: string;
  user_id: string;
  /** The workspace the key was linked from; within an organisation the key serves all of them. */
  team_id: string;
  /** The key, sealed for this person (`auth/keys/sealing.ts`). */
  sealed: string;
  /** Which key of the keyring sealed it. */
  key_id: string;
  fingerprint: string;
  linked_at: Moment;
  version: Version;
}

/** One row for each workspace or organisation the app was installed in: its bot token and what Slack said with it. */
interface Installations {
  tenant: string;
  sealed: string;
  key_id: string;
  installed_at: Moment;
  version: Version;
}

/** Tokens that people granted for themselves while installing. */
interface InstallationUsers {
  tenant: string;
  user_id: string;
  sealed: string;
  key_id: string;
  installed_at: Moment;
  version: Version;
}

/** One-time links to the page where a person enters a key; a key is bound to whoever the link was made for. */
interface KeyLinks {
  /** SHA-256 of the token, hexadecimal. The token itself is in the link and nowhere else. */
  token_hash: string;
  tenant: string;
  user_id: string;
  /** Set only where the app is installed for the whole organisation. */
  enterprise_id: string | null;
  team_id: string;
  /** Whom the page names. */
  shown_for: string;
  made_at: Moment;
  expires_at: Moment;
  /** Keys that the CDN refused. */
  refusals: number;
  /** Whoever checks a key with it at this moment, and until when that holds. */
  claim: string | null;
  claimed_until: Maybe;
  /** `used`, `voided` or `refused`; null = open until it expires. */
  ended: string | null;
  /** How often a new link was asked for in its place, and when last. */
  renewals: number;
  renewed_at: Maybe;
}

/**
 * The newest version of each sealed row, authenticated under the keyring: an older copy of a row does not match it.
 * `user_id` is empty where the row belongs to the tenant itself. Stays when the row is destroyed, one higher.
 */
interface SealedVersions {
  tenant: string;
  user_id: string;
  kind: string;
  version: number;
  key_id: string;
  mac: string;
}

/** A value for each key id that only the same key gives: another key under a known id is noticed at start. */
interface KeyringKeys {
  key_id: string;
  check_value: string;
  first_seen: Generated<Date>;
}

/** Which keys each running process knows, refreshed while it runs. */
interface KeyringMembers {
  id: string;
  /** For people: the host and the process number. */
  label: string;
  /** Separated by commas, the first is its primary. */
  key_ids: string;
  primary_id: string;
  seen_at: Generated<Date>;
}

export const createKeyTables = createTables(
  `create table linked_keys (
    tenant text not null,
    user_id text not null,
    team_id text not null,
    sealed text not null,
    key_id text not null,
    fingerprint text not null,
    linked_at timestamptz not null,
    version bigint not null default 0,
    primary key (tenant, user_id))`,
  `create table installations (
    tenant text primary key,
    sealed text not null,
    key_id text not null,
    installed_at timestamptz not null,
    version bigint not null default 0)`,
  `create table installation_users (
    tenant text not null references installations on delete cascade,
    user_id text not null,
    sealed text not null,
    key_id text not null,
    installed_at timestamptz not null,
    version bigint not null default 0,
    primary key (tenant, user_id))`,
  `create table key_links (
    token_hash text primary key,
    tenant text not null,
    user_id text not null,
    enterprise_id text,
    team_id text not null,
    shown_for text not null,
    made_at timestamptz not null,
    expires_at timestamptz not null,
    refusals integer not null,
    claim text,
    claimed_until timestamptz,
    ended text,
    renewals integer not null,
    renewed_at timestamptz)`,
  'create index key_links_person on key_links (tenant, user_id)',
  'create index key_links_expires_at on key_links (expires_at)',
  `create table sealed_versions (
    tenant text not null,
    user_id text not null,
    kind text not null,
    version bigint not null,
    key_id text not null,
    mac text not null,
    primary key (tenant, user_id, kind))`,
  // The newest version of a row outlives the row, so that an older copy that is put back is noticed.
  `create trigger sealed_versions_stay before delete on sealed_versions
    for each row execute function refuse_change()`,
  `create trigger sealed_versions_only_grow before update on sealed_versions
    for each row when (new.version < old.version) execute function refuse_change()`,
  `create table keyring_keys (
    key_id text primary key,
    check_value text not null,
    first_seen timestamptz not null default now())`,
  `create table keyring_members (
    id text primary key,
    label text not null,
    key_ids text not null,
    primary_id text not null,
    seen_at timestamptz not null default now())`,
);
