import type { Attachment, Spooled } from '../views/blocks/message.ts';
import { exportChart, renderFileComment } from '../views/exports/report.ts';
import type { ExportFile, ExportFiles, GatheredFiles } from './files.ts';
import type { ExportRequest, ExportSummary } from './model.ts';

/** What goes to Slack together, and the words beside it. */
export function createAttachments(
  one: ExportSummary,
  { files, parts, figures, sha256: whole }: ExportFiles,
  gathered: GatheredFiles,
): { readonly files: readonly Attachment[]; readonly comment: string; readonly bytes: number } {
  const named = files.map((file) => ({ ...file, name: nameOf(one.request, file, parts) }));
  const reported = named.map(({ name, kind, sha256, spooled }) => ({
    name,
    kind,
    sha256,
    bytes: spooled.length(),
  }));
  const chart = exportChart(one, figures);
  return {
    files: [
      ...named.map(({ name, spooled }) => ({
        name,
        title: name,
        mimetype: 'text/csv',
        content: { spooled: counted(spooled, gathered) },
      })),
      ...(chart ? [chart] : []),
    ],
    comment: renderFileComment(one, figures, { files: reported, sha256: whole }),
    bytes: reported.reduce((sum, { bytes }) => sum + bytes, 0),
  };
}

/** `events-501-20261118T1000Z-20261118T1200Z-part1of3-spreadsheet.csv` */
function nameOf(
  { shieldZoneId, from, to }: ExportRequest,
  { kind, part }: ExportFile,
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

function counted(spooled: Spooled, gathered: GatheredFiles): Spooled {
  return {
    ...spooled,
    send: (to) =>
      spooled.send({
        ...to,
        moved(bytes) {
          gathered.sent += bytes;
          to.moved(bytes);
        },
      }),
  };
}

function compact(at: Date): string {
  return `${at.toISOString().slice(0, 16).replaceAll(/[-:]/gu, '')}Z`;
}
