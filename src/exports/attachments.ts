import type { Attachment, Spooled } from '../views/blocks/message.ts';
import { exportChart, renderFileComment } from '../views/exports/report.ts';
import type { ExportRequest, ExportSummary } from './model.ts';
import type { GatheredFile, GatheredLog } from './worker/gather.ts';

/** The files of one message, and the comment above them. */
export function createAttachments(
  one: ExportSummary,
  { files, parts, stats, sha256 }: GatheredLog<GatheredFile & { readonly spooled: Spooled }>,
): { readonly files: readonly Attachment[]; readonly comment: string; readonly bytes: number } {
  const named = files.map((file) => ({ ...file, name: fileName(one.request, file, parts) }));
  const chart = exportChart(one, stats);
  return {
    files: [
      ...named.map(({ name, spooled }) => ({
        name,
        title: name,
        mimetype: 'text/csv',
        content: { spooled },
      })),
      ...(chart ? [chart] : []),
    ],
    comment: renderFileComment(one, stats, {
      files: named.map(({ name, kind, sha256, length }) => ({ name, kind, sha256, bytes: length })),
      sha256,
    }),
    bytes: files.reduce((sum, { length }) => sum + length, 0),
  };
}

/** `events-501-20261118T1000Z-20261118T1200Z-part1of3-spreadsheet.csv` */
function fileName(
  { shieldZoneId, from, to }: ExportRequest,
  { kind, part }: GatheredFile,
  parts: number,
): string {
  return [
    `events-${shieldZoneId}-${compact(from)}-${compact(to)}`,
    ...(parts > 1 ? [`part${part}of${parts}`] : []),
    ...(kind === 'safe' ? ['spreadsheet'] : []),
  ]
    .join('-')
    .concat('.csv');
}

function compact(at: Date): string {
  return `${at.toISOString().slice(0, 16).replaceAll(/[-:]/gu, '')}Z`;
}
