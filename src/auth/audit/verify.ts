import { isUtf8 } from 'node:buffer';
import type { KeyObject } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { UserError } from '../../errors.ts';
import { hasTable } from '../../store/database.ts';
import type { Db } from '../../store/schema.ts';
import { type Broken, createChainCheck, type Link, verifyChain } from './chain.ts';
import { type Checkpoint, findCheckpoints, isSignedBy } from './checkpoint.ts';
import { readRecord } from './record.ts';

/** The result of checking one tenant's chain. */
export interface AuditReport {
  readonly tenant: string;
  /** The number of whole records, and the hash of the last. */
  readonly records: number;
  readonly head: string | undefined;
  readonly broken?: Broken;
  /** A line of a file that is no record. */
  readonly malformed?: { readonly seq: number; readonly line: number; readonly why: string };
  /** The given ones and, with a database, the stored ones. */
  readonly checkpoints: readonly CheckedCheckpoint[];
}

interface CheckedCheckpoint {
  readonly checkpoint: Checkpoint;
  /** Whether the key signed it; undefined = there was no key to tell with. */
  readonly genuine: 'yes' | 'no' | undefined;
}

interface VerifyOptions {
  readonly tenant?: string | undefined;
  /** The chain must still contain them. */
  readonly checkpoints: readonly Checkpoint[];
  readonly key: KeyObject | undefined;
}

/** Checks every chain of a database, in bounded memory. Missing tables are skipped. */
export async function checkDatabase(db: Db, options: VerifyOptions): Promise<AuditReport[]> {
  if (!(await hasTable(db, 'audit_records')))
    throw new UserError('The database holds no audit record: it is from before there was one.');
  const isStored = await hasTable(db, 'audit_checkpoints');
  const reports: AuditReport[] = [];
  for (const tenant of await findTenants(db, options)) {
    const given = options.checkpoints.filter((checkpoint) => checkpoint.tenant === tenant);
    const stored = isStored ? await findCheckpoints(db, tenant) : [];
    const checkpoints = checkSignatures([...given, ...stored], options.key);
    const verdict = await verifyChain(db, tenant, { noted: linksOf(checkpoints) });
    reports.push(
      verdict.ok
        ? { tenant, records: verdict.records, head: verdict.head, checkpoints }
        : { tenant, records: verdict.broken.seq - 1, head: undefined, broken: verdict.broken, checkpoints },
    );
  }
  return reports;
}

/** The tenants with records, and those that a checkpoint names. */
async function findTenants(db: Db, { tenant, checkpoints }: VerifyOptions): Promise<ReadonlySet<string>> {
  if (tenant !== undefined) return new Set([tenant]);
  const found = new Set<string>();
  // One by one: a list of all would read the whole table.
  for (let last = ''; ; ) {
    const { next } = await db
      .selectFrom('audit_records')
      .select((is) => is.fn.min('tenant').as('next'))
      .where('tenant', '>', last)
      .executeTakeFirstOrThrow();
    if (!next) break;
    found.add(next);
    last = next;
  }
  for (const checkpoint of checkpoints) found.add(checkpoint.tenant);
  return found;
}

const notARecord =
  'the line is not in the form that the bot writes: a member was added, taken away or respelled.';

/**
 * One chain in an exported file, line by line.
 *
 * @throws UserError where the file cannot be read, holds nothing, or is not of the tenant asked for.
 */
export async function checkFile(path: string, options: VerifyOptions): Promise<AuditReport> {
  const checkpoints = checkSignatures(options.checkpoints, options.key);
  let check: ReturnType<typeof createChainCheck> | undefined;
  let tenant = '';
  let line = 0;
  const report = (more: Pick<AuditReport, 'broken' | 'malformed'>): AuditReport => {
    const { seq, hash } = check?.reached ?? { seq: 0, hash: undefined };
    return { tenant, records: seq, head: hash, checkpoints, ...more };
  };
  for await (const text of readLines(path)) {
    line += 1;
    const record = text === undefined ? undefined : readRecord(text);
    if (!record) {
      const why = text === undefined ? 'the file ends in the middle of it, or it is too long.' : notARecord;
      return report({ malformed: { seq: (check?.reached.seq ?? 0) + 1, line, why } });
    }
    if (!check) {
      ({ tenant } = record);
      refuseOtherTenants(tenant, options);
      check = createChainCheck(tenant, { noted: linksOf(checkpoints) });
    }
    const broken = check.next(record);
    if (broken) return report({ broken });
  }
  if (!check) throw new UserError(`The file ${path} holds no records.`);
  const broken = check.end();
  return report(broken ? { broken } : {});
}

function refuseOtherTenants(found: string, { tenant, checkpoints }: VerifyOptions): void {
  const wanted = [tenant, ...checkpoints.map((checkpoint) => checkpoint.tenant)];
  const other = wanted.find((one) => one !== undefined && one !== found);
  if (other !== undefined)
    throw new UserError(`The file holds the record of ${JSON.stringify(found)}, not of ${other}.`);
}

function checkSignatures(checkpoints: readonly Checkpoint[], key?: KeyObject): CheckedCheckpoint[] {
  return checkpoints.map((checkpoint) => ({
    checkpoint,
    genuine: key && (isSignedBy(key, checkpoint) ? 'yes' : 'no'),
  }));
}

/** A forged checkpoint says nothing about the chain. */
function linksOf(checkpoints: readonly CheckedCheckpoint[]): Link[] {
  return checkpoints
    .filter(({ genuine }) => genuine !== 'no')
    .map(({ checkpoint }) => ({ seq: checkpoint.seq, hash: checkpoint.head }));
}

// Far above the longest record; a file may be anything.
const longestLine = 8 * 1024 * 1024;

/** The lines of a file, one at a time; undefined at the end for one without its line break, or that is too long. */
async function* readLines(path: string): AsyncGenerator<string | undefined, void> {
  let rest: Buffer = Buffer.alloc(0);
  try {
    for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
      rest = Buffer.concat([rest, chunk]);
      for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10)) {
        const line = rest.subarray(0, end);
        // The empty line is no record either.
        yield isUtf8(line) ? line.toString() : '';
        rest = rest.subarray(end + 1);
      }
      if (rest.length > longestLine) break;
    }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    throw new UserError(`The file ${path} cannot be read (${code}).`);
  }
  if (rest.length > 0) yield undefined;
}
