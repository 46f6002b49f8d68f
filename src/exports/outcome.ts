import { z } from 'zod';
import type { Failure } from '../views/blocks/failure.ts';
import type { Message } from '../views/blocks/message.ts';
import {
  type NotifiedWhere,
  renderBlocked,
  renderCancelled,
  renderDone,
  renderFailed,
  renderNotBegun,
  renderUnknown,
} from '../views/exports/outcome-messages.ts';
import { type ExportRow, toExportSummary } from './queries/exports.ts';

const failure = z.object({
  message: z.string(),
  hint: z.string().optional(),
  offer: z
    .union([
      z.enum(['connect', 'why']),
      z.array(z.object({ label: z.string(), types: z.string() })).readonly(),
    ])
    .optional(),
  why: z.string().optional(),
  reference: z.string().optional(),
});

const offer = z.object({
  from: z.coerce.date(),
  to: z.coerce.date(),
  split: z.boolean(),
  change: z.literal(true).optional(),
});

const stored = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('done'), files: z.int() }),
  z.object({ kind: z.literal('unknown') }),
  z.object({ kind: z.literal('cancelled'), by: z.string() }),
  z.object({ kind: z.literal('failed'), failure, offers: z.array(offer).readonly() }),
  z.object({ kind: z.literal('not-begun') }),
]);

/** The outcome of an export as stored: what its message needs beside the other columns. */
export type ExportOutcome = z.output<typeof stored>;

/** Projects a failure to what is stored of it. */
export function toStoredFailure({ message, hint, offer, why, reference }: Failure): z.output<typeof failure> {
  return { message, hint, offer, why, reference };
}

/** The state of an export by its outcome. */
export const stateOfOutcome = {
  done: 'done',
  unknown: 'unknown',
  cancelled: 'cancelled',
  failed: 'failed',
  'not-begun': 'failed',
} as const satisfies Record<ExportOutcome['kind'], string>;

export function writeOutcome(ending: ExportOutcome): string {
  return JSON.stringify(ending);
}

/** Undefined if the export has not ended, or its outcome was erased. */
export function readOutcome({ ending }: ExportRow): ExportOutcome | undefined {
  return ending === null ? undefined : stored.parse(JSON.parse(ending));
}

/** Renders the message of an outcome. */
export function renderOutcome(row: ExportRow, ending: ExportOutcome, told: NotifiedWhere): Message {
  const one = toExportSummary(row);
  switch (ending.kind) {
    case 'done':
      return renderDone(one, { files: ending.files, empty: ending.files === 0, told });
    case 'unknown':
      return renderUnknown(one, told);
    case 'cancelled':
      return renderCancelled(one, ending.by);
    case 'failed':
      return renderFailed(one, ending.failure, ending.offers);
    case 'not-begun':
      return renderNotBegun(one);
  }
}

/** Renders an outcome whose usual message holds a live secret. */
export function renderBlockedOutcome(
  row: ExportRow,
  { kind }: ExportOutcome,
  reference: string | undefined,
): Message {
  return renderBlocked(toExportSummary(row), kind, reference);
}
