import { z } from 'zod';
import type { Failure } from '../views/blocks/failure.ts';
import type { Message } from '../views/blocks/message.ts';
import * as views from '../views/exports/outcome-messages.ts';
import type { ExportState } from './model.ts';
import { type ExportRow, toExportSummary } from './queries.ts';

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
}) satisfies z.ZodType<Failure>;

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

/** The columns of an ended export. */
export function outcomeColumns(outcome: ExportOutcome): {
  readonly state: ExportState;
  readonly ending: string;
} {
  const state = outcome.kind === 'not-begun' ? 'failed' : outcome.kind;
  return { state, ending: JSON.stringify(stored.parse(outcome)) };
}

/** Undefined if the export has not ended, or its outcome was erased. */
export function readOutcome({ ending }: ExportRow): ExportOutcome | undefined {
  return ending === null ? undefined : stored.parse(JSON.parse(ending));
}

export function renderOutcome(row: ExportRow, outcome: ExportOutcome, told: views.NotifiedWhere): Message {
  const one = toExportSummary(row);
  switch (outcome.kind) {
    case 'done':
      return views.renderDone(one, { files: outcome.files, empty: outcome.files === 0, told });
    case 'unknown':
      return views.renderUnknown(one, told);
    case 'cancelled':
      return views.renderCancelled(one, outcome.by);
    case 'failed':
      return views.renderFailed(one, outcome.failure, outcome.offers);
    case 'not-begun':
      return views.renderNotBegun(one);
  }
}
