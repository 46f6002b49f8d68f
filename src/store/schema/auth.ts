import { defineTables } from './define-tables.ts';

/** Policies, the audit, linked keys and installations, names. `sealed`: encrypted under the key `key_id`. */
export const authTables = defineTables(
  {
    /** Every version of a tenant's settings; the highest one holds. Rows are only ever added. */
    policies: {
      tenant: 'text not null',
      version: 'integer not null',
      /** JSON (`auth/policy/policy.ts`). */
      body: 'text not null',
      changed_by: 'text not null',
      changed_at: 'timestamptz not null',
    },
    /** Append-only, each record chained to the one before it in its tenant. */
    audit_records: {
      tenant: 'text not null',
      seq: 'bigint not null',
      at: 'timestamptz not null',
      actor: 'text not null',
      event: 'text not null',
      subject: 'text',
      detail: 'jsonb not null',
      request_id: 'text',
      prev_hash: 'text not null',
      hash: 'text not null',
    },
    /** One CDN key a person. `tenant` is the scope that `user_id` is unique in: the organisation or the workspace. */
    linked_keys: {
      tenant: 'text not null',
      user_id: 'text not null',
      /** The workspace the key was linked from; within an organisation the key serves all of them. */
      team_id: 'text not null',
      sealed: 'text not null',
      key_id: 'text not null',
      fingerprint: 'text not null',
      linked_at: 'timestamptz not null',
      version: 'bigint not null',
    },
    /** One row for each workspace or organisation the app was installed in: its bot token and what Slack said with it. */
    installations: {
      tenant: 'text primary key',
      sealed: 'text not null',
      key_id: 'text not null',
      installed_at: 'timestamptz not null',
      version: 'bigint not null',
    },
    /** Tokens for clients other than Slack. */
    client_tokens: {
      /** SHA-256, hexadecimal. The token itself is shown once and kept nowhere. */
      token_hash: 'text primary key',
      tenant: 'text not null',
      user_id: 'text not null',
      enterprise_id: 'text',
      team_id: 'text not null',
      /** Of the linked key with which it was made: it ends with it. */
      key_version: 'bigint not null',
      /** Typed by the person. */
      name: 'text not null',
      made_at: 'timestamptz not null',
      expires_at: 'timestamptz not null',
    },
    /** One-time links to the page where a person enters a key; a key is bound to the person the link was made for. */
    key_links: {
      /** SHA-256 of the token, hexadecimal. The token itself is in the link and nowhere else. */
      token_hash: 'text primary key',
      tenant: 'text not null',
      user_id: 'text not null',
      /** Set only where the app is installed for the whole organisation. */
      enterprise_id: 'text',
      team_id: 'text not null',
      /** The name that the page shows. */
      shown_for: 'text not null',
      made_at: 'timestamptz not null',
      expires_at: 'timestamptz not null',
      /** Keys that the CDN refused. */
      refusals: 'integer not null',
      /** The request that checks a key with it, and until when it may. */
      claim: 'text',
      claimed_until: 'timestamptz',
      /** `used`, `voided` or `refused`; null = open until it expires. */
      ended: 'text',
      /** How often a new link was asked for in its place, and when last. */
      renewals: 'integer not null',
      renewed_at: 'timestamptz',
    },
    /**
     * The newest version of each sealed row: an older copy of a row does not match it.
     * `user_id` is empty where the row belongs to the tenant itself. Stays when the row is destroyed, one higher.
     */
    sealed_versions: {
      tenant: 'text not null',
      user_id: 'text not null',
      kind: 'text not null',
      version: 'bigint not null',
    },
    /** One name for an id in each tenant. */
    names: {
      tenant: 'text not null',
      /** A `NamedKind` (`auth/names.ts`). */
      kind: 'text not null',
      id: 'text not null',
      name: 'text not null',
      /** A user id. */
      named_by: 'text not null',
      named_at: 'timestamptz not null',
    },
    /** The ids that a person looked at last, a few of each kind. */
    recent_ids: {
      tenant: 'text not null',
      user_id: 'text not null',
      kind: 'text not null',
      id: 'text not null',
      used_at: 'timestamptz not null',
    },
    /** The zone that `/cdn errors` means in a channel. */
    channel_zones: {
      tenant: 'text not null',
      channel: 'text not null',
      zone_id: 'text not null',
      zone_name: 'text not null',
      set_by: 'text not null',
      set_at: 'timestamptz not null',
    },
  },
  {
    policies: 'tenant, version',
    audit_records: 'tenant, seq',
    linked_keys: 'tenant, user_id',
    sealed_versions: 'tenant, user_id, kind',
    names: 'tenant, kind, id',
    recent_ids: 'tenant, user_id, kind, id',
    channel_zones: 'tenant, channel',
  },
  [
    'create index key_links_person on key_links (tenant, user_id)',
    'create index client_tokens_person on client_tokens (tenant, user_id)',
    'create index key_links_expires_at on key_links (expires_at)',
    'create index client_tokens_expires_at on client_tokens (expires_at)',
    // A name can be typed in place of its id.
    'create unique index names_name on names (tenant, kind, lower(name))',
    `create trigger audit_records_append_only before update or delete on audit_records
      for each row execute function refuse_change()`,
    `create trigger audit_records_no_truncate before truncate on audit_records
      for each statement execute function refuse_change()`,
    // The newest version of a row outlives the row, so that an older copy that is put back is noticed.
    `create trigger sealed_versions_stay before delete on sealed_versions
      for each row execute function refuse_change()`,
    `create trigger sealed_versions_only_grow before update on sealed_versions
      for each row when (new.version < old.version) execute function refuse_change()`,
  ],
);
