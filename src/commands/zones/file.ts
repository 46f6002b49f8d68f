import type { ZoneSummary } from '../../api/zones/summary.ts';
import { type CsvColumn, writeCsv, writeCsvHeader } from '../../lib/csv.ts';
import { writeTempFile } from '../../lib/temp-file.ts';
import { yieldToEventLoop } from '../../lib/time.ts';
import { describeNeeds } from '../../views/zones/rows.ts';
import type { With } from '../define.ts';

/** Lines between two pauses: about a millisecond's work. */
const linesAtOnce = 200;

/** Writes a file with what lists of zones are made of. */
export function writeZonesFile(
  zones: readonly ZoneSummary[],
  { tempDirectory, signal }: With<'tempDirectory'>,
): Promise<{ readonly path: string }> {
  const written = writeTempFile(tempDirectory, async (write) => {
    await write(writeCsvHeader(columns));
    for (let at = 0; at < zones.length; at += linesAtOnce) {
      signal.throwIfAborted();
      await write(writeCsv(columns, zones.slice(at, at + linesAtOnce)));
      await yieldToEventLoop();
    }
    return {};
  });
  return written.then((file) => {
    if (!file) throw new Error('a file that is always filled was not written');
    return file;
  });
}

const columns: readonly CsvColumn<ZoneSummary>[] = [
  { name: 'id', cell: ({ id }) => id },
  { name: 'name', cell: ({ name }) => name },
  { name: 'needs', cell: describeNeeds },
  { name: 'enabled', cell: ({ enabled }) => enabled?.toString() },
  { name: 'suspended', cell: ({ suspended }) => suspended?.toString() },
  { name: 'bytes_this_month', cell: ({ bandwidthUsed }) => bandwidthUsed },
  { name: 'bytes_limit', cell: ({ bandwidthLimit }) => bandwidthLimit },
  { name: 'charges_usd', cell: ({ charges }) => charges },
  { name: 'hostnames', cell: ({ hostnames }) => hostnames.join(' ') },
  { name: 'without_certificate', cell: ({ hostnamesWithoutCertificate: without }) => without.join(' ') },
  { name: 'weak_settings', cell: ({ weaknesses }) => weaknesses?.join(' ') },
  { name: 'origin', cell: ({ originUrl }) => originUrl },
  { name: 'storage_zone', cell: ({ storageZoneId }) => storageZoneId },
  { name: 'edge_script', cell: ({ edgeScriptId }) => edgeScriptId },
  { name: 'middleware_script', cell: ({ middlewareScriptId }) => middlewareScriptId },
  { name: 'app', cell: ({ appId }) => appId },
];
