import { z } from 'zod';
import type { ExportRow } from '../store/exports.ts';
import {
  exportCancelled,
  exportDone,
  exportEndWithheld,
  exportFailed,
  exportNotBegun,
  exportUnknown,
  type Told,
} from '../views/event-log-ends.ts';
import type { Failure } from '../views/failure.ts';
import type { Message } from '../views/message.ts';
import { summaryOf } from './export-rows.ts';

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

/** How an export ended, as its row keeps it: what the words and buttons need that stands nowhere else in the row. */
export type Ending = z.output<typeof stored>;

/** A failure as it is stored. */
export function failureOf({ message, hint, offer, why, reference }: Failure): z.output<typeof failure> {
  return { message, hint, offer, why, reference };
}

/** The state that goes with an ending. */
export const stateOf = {
  done: 'done',
  unknown: 'unknown',
  cancelled: 'cancelled',
  failed: 'failed',
  'not-begun': 'failed',
} as const satisfies Record<Ending['kind'], string>;

export function writeEnding(ending: Ending): string {
  return JSON.stringify(ending);
}

/** Undefined where it has not ended, or where that is forgotten. */
export function endingOf({ ending }: ExportRow): Ending | undefined {
  return ending === null ? undefined : stored.parse(JSON.parse(ending));
}

/** The words and buttons of an ending. */
export function endMessage(row: ExportRow, ending: Ending, told: Told): Message {
  const one = summaryOf(row);
  switch (ending.kind) {
    case 'done':
      return exportDone(one, { files: ending.files, empty: ending.files === 0, told });
    case 'unknown':
      return exportUnknown(one, told);
    case 'cancelled':
      return exportCancelled(one, ending.by);
    case 'failed':
      return exportFailed(one, ending.failure, ending.offers);
    case 'not-begun':
      return exportNotBegun(one);
  }
}

/** The same where those words must not leave, since a live secret stands in them. */
export function withheldEnd(row: ExportRow, { kind }: Ending, reference: string | undefined): Message {
  return exportEndWithheld(summaryOf(row), kind, reference);
}
