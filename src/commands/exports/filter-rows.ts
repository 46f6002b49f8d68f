import type { EventLogFilter } from '../../api/event-logs.ts';
import { another, type FilterRow, rowBlocks, rowMenus } from '../../views/exports/filter-rows.ts';
import type { Fields } from '../context.ts';
import {
  describeUnknownNames,
  isKnownField,
  isKnownOp,
  mostFilters,
  readFilter,
  readFilters,
  splitValues,
} from './filters.ts';

/** The rows of a form, and what the next one is to be called by. */
export interface Rows {
  readonly filters: readonly FilterRow[];
  readonly nextRow: number;
}

const empty = { drawn: 0, field: '', otherField: '', op: 'in', otherOp: '', values: '' };

/** A row for each filter, and an empty one where there is none. */
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
      values: splitValues(value),
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

/** Whether after the choice of a field an input has to come or go, or a menu or hint to change. */
export function needsRedraw(rows: readonly FilterRow[], fields: Fields): boolean {
  return rows.some(
    (row) =>
      (row.field === another) !== rowBlocks(row.id).field in fields || row.op === 'cidr' || isUnusual(row),
  );
}

/** Nobody looks for a whole URL or User-Agent: where the operation was left alone, it becomes the one for a part. */
export function withDefaultOps({ filters, nextRow }: Rows): Rows {
  const usual = filters.map((row) => (isUnusual(row) ? { ...row, op: 'contains', drawn: 1 } : row));
  return { filters: usual, nextRow };
}

function isUnusual({ field, op, drawn }: FilterRow): boolean {
  return ['url', 'ua'].includes(field) && op === 'in' && drawn === 0;
}

/** What stands in the rows of a form. `drawn`: their ids, and how often their menus were drawn. */
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

/** Filters as their rows say; what is wrong by block; and what has to be shown before it may be sent. */
export interface ReadRows {
  readonly filters: readonly EventLogFilter[];
  readonly problems: readonly (readonly [block: string, problem: string])[];
  /** About names that stand in no input with a warning below it: those are asked about once. */
  readonly unsaid: readonly string[];
  readonly warnings: readonly string[];
}

/** Reads the rows; `fields` say which inputs for other names stand in the form. */
export function readRows(rows: readonly FilterRow[], fields: Fields): ReadRows {
  const filters: EventLogFilter[] = [];
  const problems: [string, string][] = [];
  const unsaid: string[] = [];
  const warnings: string[] = [];
  for (const row of rows) {
    const blocks = rowBlocks(row.id);
    if (row.field === '') {
      // All of it in words, as fast typists and other programs do it.
      const read = readFilters(row.values);
      filters.push(...read.filters);
      unsaid.push(...read.warnings);
      if (read.problems.length > 0) {
        const words = read.problems.slice(0, 3).join('\n');
        problems.push([blocks.values, `${words}\nOr choose a field above, and type the values only.`]);
      }
      continue;
    }
    const hidden = [
      ...(row.field === another && !(blocks.field in fields) ? ['its field'] : []),
      ...(row.op === another && !(blocks.op in fields) ? ['its operation'] : []),
    ];
    if (hidden.length > 0) unsaid.push(`a filter still needs the name of ${hidden.join(' and of ')}`);
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
  return { filters, problems, unsaid, warnings };
}

/** Rows that are typed in words become rows with menus; the others stay as they are. */
export function expandRows({ filters, nextRow }: Rows): Rows {
  let next = nextRow;
  const rows = filters.flatMap((row) => {
    const read = row.field === '' ? readFilters(row.values).filters : [];
    if (read.length === 0) return [row];
    const made = toFilterRows(read, next);
    next = made.nextRow;
    return made.filters;
  });
  return { filters: rows.slice(0, mostFilters), nextRow: next };
}

function capital(words: string): string {
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}.`;
}
