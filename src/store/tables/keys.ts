import type { Generated } from 'kysely';
import type { Maybe, Moment, Version } from './columns.ts';

/** One CDN key a person. `tenant` is the scope that `user_id` is unique in: the Enterprise organisation or the workspace. */
export interface LinkedKeys {
  tenant: string;
  user_id: string;
  /** The workspace the key was linked from; within an organisation the key serves all of them. */
  team_id: string;
  /** The key, sealed for this person (`auth/sealing.ts`). */
  sealed: string;
  /** Which key of the keyring sealed it. */
  key_id: string;
  fingerprint: string;
  linked_at: Moment;
  version: Version;
}

/** One row for each workspace or organisation the app was installed in: its bot token and what Slack said with it. */
export interface Installations {
  tenant: string;
  sealed: string;
  key_id: string;
  installed_at: Moment;
  version: Version;
}

/** Tokens that people granted for themselves while installing. */
export interface InstallationUsers {
  tenant: string;
  user_id: string;
  sealed: string;
  key_id: string;
  installed_at: Moment;
  version: Version;
}

/** One-time links to the page where a person enters a key; a key is bound to whoever the link was made for. */
export interface KeyLinks {
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
export interface SealedVersions {
  tenant: string;
  user_id: string;
  kind: string;
  version: number;
  key_id: string;
  mac: string;
}

/** A value for each key id that only the same key gives: another key under a known id is noticed at start. */
export interface KeyringKeys {
  key_id: string;
  check_value: string;
  first_seen: Generated<Date>;
}

/** Which keys each running process knows, refreshed while it runs. */
export interface KeyringMembers {
  id: string;
  /** For people: the host and the process number. */
  label: string;
  /** Separated by commas, the first is its primary. */
  key_ids: string;
  primary_id: string;
  seen_at: Generated<Date>;
}
