import type { KeyObject } from 'node:crypto';
import { createReadStream } from 'node:fs';
import type { Kysely } from 'kysely';
import { UserError } from '../../errors.ts';
import { hasTable } from '../../store/database.ts';
import type { Schema } from '../../store/schema.ts';
import { type Broken, createChainCheck, type Link, verifyChain } from './chain.ts';
import { type Checkpoint, findCheckpoints, isSignedBy } from './checkpoint.ts';
import { findNextAuditTenant, readRecord } from './record.ts';

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

export interface VerifyOptions {
  /** This tenant's chain only. */
  readonly tenant?: string | undefined;
  /** The chain must still contain them. */
  readonly checkpoints: readonly Checkpoint[];
  readonly key: KeyObject | undefined;
}

/** Checks every chain of a database, in bounded memory. Missing tables are skipped. */
export async function checkDatabase(db: Kysely<Schema>, options: VerifyOptions): Promise<AuditReport[]> {
  if (!(await hasTable(db, 'audit_records')))
    throw new UserError('The database holds no audit record: it is from before there was one.');
  const stored = await hasTable(db, 'audit_checkpoints');
  const reports: AuditReport[] = [];
  for (const tenant of await tenantsOf(db, options)) {
    const own = options.checkpoints.filter((checkpoint) => checkpoint.tenant === tenant);
    const all = [...own, ...(stored ? await findCheckpoints(db, tenant) : [])];
    const checkpoints = verifyCheckpoints(all, options.key);
    const verdict = await verifyChain(db, tenant, { noted: linksOf(checkpoints) });
    reports.push(
      verdict.ok
        ? { tenant, records: verdict.records, head: verdict.head, checkpoints }
        : { tenant, records: verdict.broken.seq - 1, head: undefined, broken: verdict.broken, checkpoints },
    );
  }
  return reports;
}

/**
 * One chain in an exported file, line by line.
 *
 * @throws UserError where the file cannot be read, holds nothing, or is not of the tenant asked for.
 */
export async function checkFile(path: string, options: VerifyOptions): Promise<AuditReport> {
  const checkpoints = verifyCheckpoints(options.checkpoints, options.key);
  let check: ReturnType<typeof createChainCheck> | undefined;
  let tenant = '';
  let number = 0;
  const report = (more: Pick<AuditReport, 'broken' | 'malformed'> = {}): AuditReport => {
    const { seq, hash } = check?.reached ?? { seq: 0, hash: undefined };
    return { tenant, records: seq, head: hash, checkpoints, ...more };
  };
  for await (const line of readLines(path)) {
    number += 1;
    const record = line === undefined ? undefined : readRecord(line);
    if (!record) {
      const why = line === undefined ? 'the file ends in the middle of it, or it is too long.' : notARecord;
      return report({ malformed: { seq: (check?.reached.seq ?? 0) + 1, line: number, why } });
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

const notARecord =
  'the line is not in the form that the bot writes: a member was added, taken away or respelled.';

function refuseOtherTenants(found: string, { tenant, checkpoints }: VerifyOptions): void {
  const other = [tenant, ...checkpoints.map((checkpoint) => checkpoint.tenant)].find(
    (one) => one !== undefined && one !== found,
  );
  if (other !== undefined)
    throw new UserError(`The file holds the record of ${JSON.stringify(found)}, not of ${other}.`);
}

function verifyCheckpoints(
  checkpoints: readonly Checkpoint[],
  key: KeyObject | undefined,
): CheckedCheckpoint[] {
  return checkpoints.map((checkpoint) => ({
    checkpoint,
    genuine: key ? (isSignedBy(key, checkpoint) ? 'yes' : 'no') : undefined,
  }));
}

/** A forged checkpoint says nothing about the chain. */
function linksOf(checkpoints: readonly CheckedCheckpoint[]): Link[] {
  return checkpoints
    .filter(({ genuine }) => genuine !== 'no')
    .map(({ checkpoint }) => ({ seq: checkpoint.seq, hash: checkpoint.head }));
}

/** The tenants with records, and those that a checkpoint names. */
async function tenantsOf(
  db: Kysely<Schema>,
  { tenant, checkpoints }: VerifyOptions,
): Promise<Iterable<string>> {
  if (tenant !== undefined) return [tenant];
  const found = new Set<string>();
  for (
    let last = await findNextAuditTenant(db, '');
    last !== undefined;
    last = await findNextAuditTenant(db, last)
  )
    found.add(last);
  for (const checkpoint of checkpoints) found.add(checkpoint.tenant);
  return found;
}

// Far above the longest record; a file may be anything.
const longestLine = 8 * 1024 * 1024;

/** The lines of a file, one at a time; undefined at the end for one without its line break. */
async function* readLines(path: string): AsyncGenerator<string | undefined, void> {
  let pending: Buffer[] = [];
  let length = 0;
  for await (const chunk of readChunks(path)) {
    let start = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
      yield decodeLine([...pending, chunk.subarray(start, end)]);
      pending = [];
      length = 0;
      start = end + 1;
    }
    pending.push(chunk.subarray(start));
    length += chunk.length - start;
    if (length > longestLine) return yield undefined;
  }
  if (length > 0) yield undefined;
}

async function* readChunks(path: string): AsyncGenerator<Buffer, void> {
  try {
    for await (const chunk of createReadStream(path)) yield chunk as Buffer;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    throw new UserError(`The file ${path} cannot be read (${code}).`);
  }
}

/** Text that is not UTF-8 is no record: the empty line that stands for it is none either. */
function decodeLine(parts: readonly Buffer[]): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.concat(parts));
  } catch {
    return '';
  }
}
