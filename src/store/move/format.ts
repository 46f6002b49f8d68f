import { createHash, type Hash } from 'node:crypto';
import { z } from 'zod';
import { UserError } from '../../errors.ts';
import { parseJson } from '../../lib/canonical-json.ts';
import { type Line, readLines } from './file.ts';

// A file of lines. The first is the header. Each table is a head, a line for each row (a JSON array with the text of
// every column, or null) and an end with its checksum. The last line ends the file and has the checksum of all before.

export const formatVersion = 1;

const header = z.object({
  format: z.literal('cdn-chatops database'),
  version: z.int(),
  /** The version of the bot. */
  bot: z.string(),
  made: z.string(),
  engine: z.enum(['embedded', 'postgres']),
  /** The newest migration. */
  schema: z.string(),
  /** The version of the queue's tables; null = it had none. */
  queue: z.int().nullable(),
  tables: z.array(z.object({ name: z.string(), rows: z.int() })),
});

const head = z.object({
  table: z.string(),
  columns: z.array(z.tuple([z.string(), z.string()])),
});

const tableEnd = z.object({
  endOf: z.string(),
  rows: z.int(),
  sha256: z.string(),
  /** Of its identity columns. */
  sequences: z.record(z.string(), z.object({ last: z.string(), called: z.boolean() })),
});

const fileEnd = z.object({ endOf: z.literal('file'), rows: z.int(), sha256: z.string() });

export type Header = z.output<typeof header>;
export type TableHead = z.output<typeof head>;
export type TableEnd = z.output<typeof tableEnd>;

export const writeLine = (line: Header | TableHead | TableEnd | z.output<typeof fileEnd>): string =>
  `${JSON.stringify(line)}\n`;

/** Called with the parts of a file in their order. */
export interface Visitor {
  readonly header?: (header: Header) => Promise<void>;
  readonly head?: (head: TableHead) => Promise<void>;
  readonly row?: (line: string) => Promise<void>;
  readonly end?: (end: TableEnd) => Promise<void>;
}

/**
 * Reads a whole file and checks every count and checksum in it.
 *
 * @throws UserError where it is no such file, of a later format, altered or cut off.
 */
export async function readMove(path: string, visitor: Visitor = {}): Promise<Header> {
  let found: Header | undefined;
  let reading: (TableHead & { hash: Hash; rows: number }) | undefined;
  const done: { name: string; rows: number }[] = [];
  let number = 0;
  for await (const line of readLines(path)) {
    number += 1;
    const damaged = (why: string): UserError => refuseDamaged(path, `line ${number}: ${why}`);
    if (!found) {
      found = readHeader(line.text, path);
      await visitor.header?.(found);
    } else if (reading && line.text.startsWith('[')) {
      reading.hash.update(line.text).update('\n');
      reading.rows += 1;
      await visitor.row?.(line.text);
    } else if (reading) {
      const end = readEnd(line, reading);
      if (!end) throw damaged(`the table ${reading.table} is not what was written`);
      done.push({ name: reading.table, rows: reading.rows });
      reading = undefined;
      await visitor.end?.(end);
    } else {
      const next = head.safeParse(parseJson(line.text));
      if (next.success) {
        reading = { ...next.data, hash: createHash('sha256'), rows: 0 };
        await visitor.head?.(next.data);
      } else if (isFileEnd(line) && JSON.stringify(done) === JSON.stringify(found.tables)) return found;
      else throw damaged('it is neither a table nor the end');
    }
  }
  throw refuseDamaged(path, 'it was cut off, its end is missing');
}

function readHeader(text: string, path: string): Header {
  const parsed = header.safeParse(parseJson(text));
  if (!parsed.success)
    throw new UserError(`The file ${path} was not written by “npm run db -- export”.`, 'Check the path.');
  if (parsed.data.version === formatVersion) return parsed.data;
  throw new UserError(
    `The file ${path} was written by version ${parsed.data.bot} of the bot, in a form that this version does not know.`,
    'Import it with that version or a later one.',
  );
}

function readEnd({ text }: Line, { table, hash, rows }: TableHead & { hash: Hash; rows: number }) {
  const { data } = tableEnd.safeParse(parseJson(text));
  return data?.endOf === table && data.rows === rows && data.sha256 === hash.digest('hex') ? data : undefined;
}

function isFileEnd({ text, before }: Line): boolean {
  return fileEnd.safeParse(parseJson(text)).data?.sha256 === before();
}

function refuseDamaged(path: string, why: string): UserError {
  return new UserError(
    `The file ${path} is damaged: ${why}.`,
    'Nothing was imported. Copy the file again, or export again.',
  );
}
