import type { Selectable } from 'kysely';
import { z } from 'zod';
import type { Schema } from '../../store/schema.ts';

export type OperationRow = Selectable<Schema['operations']>;
export type EventRow = Selectable<Schema['operation_events']>;

const voidReason = z.enum([
  /** The stored request is not the sealed one. */
  'changed',
  /** The key that sealed it is no longer in the keyring. */
  'key-gone',
  /** The requester's CDN key is not the one that it was asked with. */
  'key-replaced',
  /** Role, key or the channel's cap no longer allow it. */
  'requester-may-not',
  /** The settings ask for more now. */
  'more-approvals',
  /** An approver whose approval counted may no longer approve. */
  'approver-may-not',
  /** The settings that it would change are not the ones it was asked for. */
  'overtaken',
]);
/** Why an operation does not run as it is. */
export type VoidReason = z.output<typeof voidReason>;

/** How an operation ended, or why the outcome is unknown. Never holds a secret. */
export const outcomeShape = z.object({
  /** A stable word: `done`, `not-found`, `timeout`; `void` with `why`. */
  word: z.string(),
  status: z.number().optional(),
  /** The CDN's, to quote to its support. */
  requestId: z.string().optional(),
  why: voidReason.optional(),
  /** The approver's reason for a denial. Typed by a person: escape it. */
  reason: z.string().optional(),
  /** Ids of the deleted instances of a volume. */
  instances: z.array(z.string()).optional(),
  /** The CDN's problems with single members of the request. Foreign text: escape it. */
  fields: z.array(z.object({ field: z.string().optional(), message: z.string() })).optional(),
  /** Further facts to show: a reference; the variable as the CDN reports it after a change. */
  facts: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()]).optional()).optional(),
});
export type OperationOutcome = Readonly<z.output<typeof outcomeShape>>;
