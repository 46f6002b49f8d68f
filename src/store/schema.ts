import type { ColumnType } from 'kysely';

/** The tables as the queries see them; `migrations.ts` makes them. */
export interface Schema {
  linked_keys: LinkedKeys;
  installations: Installations;
  installation_users: InstallationUsers;
  deliveries: Deliveries;
}

/** One CDN key a person. `tenant` is the scope that `user_id` is unique in: the Enterprise organisation or the workspace. */
interface LinkedKeys {
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
}

/** One row for each workspace or organisation the app was installed in: its bot token and what Slack said with it. */
interface Installations {
  tenant: string;
  sealed: string;
  key_id: string;
  installed_at: Moment;
}

/** Tokens that people granted for themselves while installing. */
interface InstallationUsers {
  tenant: string;
  user_id: string;
  sealed: string;
  key_id: string;
  installed_at: Moment;
}

/** Deliveries of Slack that were taken, so that a repeated one is noticed. */
interface Deliveries {
  id: string;
  seen_at: Moment;
}

type Moment = ColumnType<Date, Date, Date>;
