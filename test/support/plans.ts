import { EventEmitter } from 'node:events';
import { sql } from 'kysely';
import pg from 'pg';
import { vi } from 'vitest';
import type { Db } from '../../src/store/schema.ts';

/** A table read as a whole, by a statement that PostgreSQL planned so. */
export interface WholeRead {
  readonly table: string;
  readonly statement: string;
}

interface Node {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly Plans?: readonly Node[];
}

/**
 * Has PostgreSQL hand its plan of each statement to whoever sent it, those of triggers too, on every connection that is
 * opened to this database from now on. `take` answers what was read as a whole since it was asked last, each once.
 */
export async function watchPlans(
  db: Db,
  database: string,
): Promise<{ take: () => WholeRead[]; seen: () => number }> {
  for (const [name, value] of [
    ['session_preload_libraries', 'auto_explain'],
    ['auto_explain.log_min_duration', '0'],
    ['auto_explain.log_level', 'notice'],
    ['auto_explain.log_format', 'json'],
    ['auto_explain.log_nested_statements', 'on'],
  ])
    await sql`alter database ${sql.id(database)} set ${sql.raw(name ?? '')} = ${sql.lit(value)}`.execute(db);
  let reads: WholeRead[] = [];
  let seen = 0;
  const hear = (message: string): void => {
    const json = message.slice(message.indexOf('{'));
    if (!message.includes('plan:')) return;
    seen += 1;
    const { 'Query Text': statement, Plan: plan } = JSON.parse(json) as { 'Query Text': string; Plan: Node };
    for (const table of findWholeReads(plan)) {
      if (!reads.some((read) => read.table === table && read.statement === statement))
        reads.push({ table, statement });
    }
  };
  vi.spyOn(pg.Client.prototype, 'emit').mockImplementation(function (this: pg.Client, event, ...about) {
    if (event === 'notice') hear((about[0] as { readonly message?: string }).message ?? '');
    return EventEmitter.prototype.emit.call(this, event, ...about);
  });
  return {
    seen: () => seen,
    take() {
      const taken = reads;
      reads = [];
      return taken;
    },
  };
}

function findWholeReads({ 'Node Type': type, 'Relation Name': table, Plans: parts = [] }: Node): string[] {
  const own = type === 'Seq Scan' && table !== undefined ? [table] : [];
  return [...own, ...parts.flatMap(findWholeReads)];
}
