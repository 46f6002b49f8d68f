import type { EventLogFilter } from '../../api/event-logs.ts';
import { another, type FilterRow, rowBlocks, rowMenus } from '../../views/exports/filter-rows.ts';
import type { Fields } from '../context.ts';
import {
  describeUnknownNames,
  isKnownField,
  isKnownOp,
  joinValues,
  mostFilters,
  readFilter,
} from './filters.ts';

/** The rows of a form, and the id of the next one. */
export interface Rows {
  readonly filters: readonly FilterRow[];
  readonly nextRow: number;
}

const empty = { drawn: 0, field: '', otherField: '', op: 'in', otherOp: '', values: '' };

/** One row per filter; an empty one if there is none. */
export function toFilterRows(filters: readonly EventLogFilter[], first = 1): Rows {
  if (filters.length === 0) return { filters: [{ ...empty, id: first }], nextRow: first + 1 };
  const rows = filters.map(({ field, op, value }, nth): FilterRow => {
    const [hasField, hasOp] = [isKnownField(field), isKnownOp(op)];
    return {
      id: first + nth,
      drawn: 0,
      field: hasField ? field : another,
      otherField: hasField ? '' : field,
      op: hasOp ? op : another,
      otherOp: hasOp ? '' : op,
      values: joinValues(value),
    };
  });
  return { filters: rows, nextRow: first + rows.length };
}

export function addRow({ filters, nextRow }: Rows): Rows {
  if (filters.length >= mostFilters) return { filters, nextRow };
  return { filters: [...filters, { ...empty, id: nextRow }], nextRow: nextRow + 1 };
}

export function removeRow({ filters, nextRow }: Rows, id: number): Rows {
  const left = filters.filter((row) => row.id !== id);
  return left.length > 0 ? { filters: left, nextRow } : toFilterRows([], nextRow);
}

/** True if the choice of a field adds or removes an input, or changes a menu or hint. */
export function needsRedraw(rows: readonly FilterRow[], fields: Fields): boolean {
  return rows.some(
    (row) =>
      (row.field === another) !== rowBlocks(row.id).field in fields || row.op === 'cidr' || isUnusual(row),
  );
}

/** A URL or User-Agent is searched for a part: the default operation becomes `contains`. */
export function withDefaultOps({ filters, nextRow }: Rows): Rows {
  const usual = filters.map((row) => (isUnusual(row) ? { ...row, op: 'contains', drawn: 1 } : row));
  return { filters: usual, nextRow };
}

function isUnusual({ field, op, drawn }: FilterRow): boolean {
  return ['url', 'ua'].includes(field) && op === 'in' && drawn === 0;
}

/** Reads the inputs of the rows. `drawn`: their ids, and how often their menus were drawn. */
export function readTypedRows(
  fields: Fields,
  drawn: readonly (readonly [id: number, drawn: number])[],
): FilterRow[] {
  const text = (name: string): string => {
    const value = fields[name];
    return typeof value === 'string' ? value : '';
  };
  return drawn.map(([id, times]) => {
    const blocks = rowBlocks(id);
    const menus = rowMenus(id);
    return {
      id,
      drawn: times,
      field: text(menus.field),
      otherField: text(blocks.field),
      op: text(menus.op),
      otherOp: text(blocks.op),
      values: text(blocks.values),
    };
  });
}

/** The filters of the rows. */
export interface ReadRows {
  readonly filters: readonly EventLogFilter[];
  readonly problems: readonly (readonly [block: string, problem: string])[];
  /** Names whose input was not drawn yet when the form was sent. */
  readonly missing: readonly string[];
  readonly warnings: readonly string[];
}

/** Reads the rows. `fields` shows which inputs for other names the form has. */
export function readRows(rows: readonly FilterRow[], fields: Fields): ReadRows {
  const filters: EventLogFilter[] = [];
  const problems: [string, string][] = [];
  const missing: string[] = [];
  const warnings: string[] = [];
  for (const row of rows) {
    const blocks = rowBlocks(row.id);
    if (row.field === '') {
      if (row.values.trim() !== '')
        problems.push([blocks.values, 'Choose a field above for these values, or remove them.']);
      continue;
    }
    const hidden = [
      ...(row.field === another && !(blocks.field in fields) ? ['its field'] : []),
      ...(row.op === another && !(blocks.op in fields) ? ['its operation'] : []),
    ];
    if (hidden.length > 0) missing.push(`a filter still needs the name of ${hidden.join(' and of ')}`);
    else {
      const field = row.field === another ? row.otherField.trim() : row.field;
      const op = row.op === another ? row.otherOp.trim() : row.op;
      if (field === '') problems.push([blocks.field, 'Type the name of the field, such as method.']);
      else if (op === '' && row.op === another)
        problems.push([blocks.op, 'Type the name of the operation, such as startsWith.']);
      else if (row.values.trim() === '')
        problems.push([blocks.values, 'Type a value, or remove this filter.']);
      else {
        const read = readFilter(field, op || 'in', row.values);
        if (typeof read === 'string') problems.push([blocks.values, capital(read)]);
        else {
          filters.push(read);
          warnings.push(...describeUnknownNames(read));
        }
      }
    }
  }
  const [first] = rows;
  if (first && filters.length > mostFilters)
    problems.push([rowBlocks(first.id).values, `At most ${mostFilters} filters.`]);
  return { filters, problems, missing, warnings };
}

function capital(words: string): string {
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}.`;
}
