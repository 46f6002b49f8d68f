import { z } from 'zod';
import { auditEvents } from '../../auth/audit/audit.ts';
import type { AuditFilter } from '../../auth/audit/trail.ts';
import { UserError } from '../../errors.ts';
import type { AuditView } from '../../views/audit/audit.ts';
import { formatCode } from '../../views/blocks/text.ts';
import { findClosest } from '../did-you-mean.ts';
import type { Words } from '../words.ts';

const defaultLimit = 50;
/** More records than this are for a file. */
const maxLimit = 500;

/** Reads `[n] [@somebody] [kind]` in any order. @throws UserError that names the mistake. */
export function readAuditQuery(words: Words): AuditView {
  let view: AuditView = { most: defaultLimit, who: undefined, kind: undefined, page: 1 };
  const [unknown] = Object.keys(words.named);
  if (unknown !== undefined) throw unknownKind(unknown);
  for (const word of words.list) {
    if (/^[-+]?\d+$/u.test(word)) view = { ...view, most: readNumber(word) };
    else if (/^[UW][A-Z0-9]{6,}$/u.test(word)) view = { ...view, who: word };
    else if (word.startsWith('@')) {
      throw new UserError(
        'That name is no mention.',
        'Type @ and pick the person from the list, or write their member ID.',
      );
    } else view = { ...view, kind: readKind(word) };
  }
  return view;
}

export function encodeAuditQuery({ most, who, kind, page }: AuditView): string {
  const pairs = {
    most: String(most),
    who: who ?? '',
    kind: kind ?? '',
    page: page === 1 ? '' : String(page),
  };
  return new URLSearchParams(Object.entries(pairs).filter(([, value]) => value !== '')).toString();
}

const encoded = z.object({
  most: z.coerce.number().int().min(1).max(maxLimit),
  who: z.string().max(40).optional(),
  kind: z
    .string()
    .refine((kind) => eventsOf(kind).length > 0)
    .optional(),
  page: z.coerce.number().int().min(1).default(1),
});

/** Reads what `encodeAuditQuery` wrote. @throws UserError for the value of an older version's button. */
export function decodeAuditQuery(value: string): AuditView {
  const { data } = encoded.safeParse(Object.fromEntries(new URLSearchParams(value)));
  if (!data) {
    throw new UserError(
      'This button is from an older version of the bot.',
      `Type ${formatCode('/cdn audit')} for a new list.`,
    );
  }
  return { most: data.most, who: data.who, kind: data.kind, page: data.page };
}

export function toAuditFilter({ who, kind }: AuditView): AuditFilter {
  return { who, events: kind === undefined ? undefined : eventsOf(kind) };
}

function readNumber(word: string): number {
  const number = Number(word);
  if (number >= 1 && number <= maxLimit) return number;
  throw new UserError(
    `${formatCode(word, 20)} is not a number of records from 1 to ${maxLimit}.`,
    'The files of the answer hold all of them.',
  );
}

const synonyms: Readonly<Record<string, string>> = {
  settings: 'policy',
  refused: 'denied',
  refusals: 'denied',
  approvals: 'operation',
  deletions: 'operation',
  changes: 'operation',
};

/** `key` and `keys` select all events of keys. */
function readKind(word: string): string {
  const lower = word.toLowerCase();
  const meant = synonyms[lower] ?? lower;
  for (const kind of [meant, meant.replace(/s$/u, '')]) {
    if (kind.length >= 3 && eventsOf(kind).length > 0) return kind;
  }
  throw unknownKind(word);
}

function eventsOf(kind: string): string[] {
  const exact = auditEvents.filter((word) => word === kind);
  return exact.length > 0 ? exact : auditEvents.filter((word) => word.includes(kind));
}

function unknownKind(word: string): UserError {
  const [near] = findClosest(word, auditEvents, 1);
  return new UserError(
    `${formatCode(word, 40)} is not a kind of record.`,
    near
      ? `Did you mean ${formatCode(`/cdn audit ${near}`)}?`
      : `Kinds are ${auditEvents.map((kind) => formatCode(kind)).join(', ')}.`,
  );
}
