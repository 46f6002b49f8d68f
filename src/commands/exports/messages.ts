import { minuteMs } from '../../lib/time.ts';
import { canBeLifted, describeLift } from '../../outbox/classify-failure.ts';
import { defineMessage, type Ended, type RenderContext } from '../../outbox/outbox.ts';
import type { Trx } from '../../store/schema.ts';
import type { Failure } from '../../views/blocks/failure.ts';
import {
  type AboutExport,
  endNotice,
  exportMessageId,
  finishExport,
  putEndNotice,
  renderExport,
} from './finish.ts';
import type { ExportContext, ExportPorts } from './ports.ts';
import { runExportJob } from './run.ts';
import { type ExportRow, findExport, installationOf, moveExport, toExportSummary } from './store.ts';

const expiresMs = 15 * minuteMs;

/** Puts the export's message into the outbox. The export runs once it is posted. */
export async function putExportMessage(
  trx: Trx,
  row: Pick<ExportRow, 'id' | 'channel' | 'user_id' | 'team_id' | 'enterprise_id' | 'asked_at'>,
  { outbox }: Pick<ExportPorts, 'outbox'>,
): Promise<void> {
  const { id, channel, user_id: userId, asked_at: askedAt } = row;
  await outbox.put(trx, {
    id: exportMessageId(id),
    kind: exportMessage,
    about: { id },
    installation: installationOf(row),
    to: { places: [channel ?? userId] },
    doubt: 'look',
    expiresAt: new Date(askedAt.getTime() + expiresMs),
  });
}

/** The message that shows the progress, then the outcome. While the export runs, it is updated directly. */
const exportMessage = defineMessage({
  kind: 'export',
  render: ({ id }: AboutExport, { db }: RenderContext<ExportPorts>) => renderExport(db, id, 'message'),
  renderInstead: ({ id }, refusal, { db }) => renderExport(db, id, 'message', refusal),
  async ended(trx, ended: Ended<AboutExport>, context: ExportContext) {
    const { id } = ended.about;
    const asked = { id, from: ['asked'] } as const;
    if (ended.state === 'sent') {
      if (await moveExport(trx, asked, { state: 'waiting' }))
        await context.ports.enqueue(runExportJob, { id }, { in: trx, key: id });
      return;
    }
    const row = await findExport(trx, id);
    if (!row) return;
    const { from, to } = toExportSummary(row).request;
    const outcome =
      ended.state === 'unknown'
        ? ({ kind: 'failed', failure: unconfirmed, offers: [{ from, to }] } as const)
        : ({ kind: 'failed', failure: describePostFailure(ended, row.channel), offers: [] } as const);
    // One that was cancelled meanwhile has nowhere to say so.
    if (!(await finishExport(trx, context, asked, outcome))) await putEndNotice(trx, row, context);
  },
  async editFailed(trx, { about }, context: ExportContext) {
    const row = await findExport(trx, about.id);
    if (row) await putEndNotice(trx, row, context);
  },
});

export const exportMessages = [exportMessage, endNotice] as const;

const unconfirmed: Failure = {
  message: 'It did not begin: Slack did not confirm its first message.',
  hint: 'Export again. If a message still says that it is under way, ignore it.',
};

/** Why the export's message could not be posted. */
export function describePostFailure(
  { code, reference }: Pick<Ended<never>, 'code' | 'reference'>,
  channel: string | null,
): Failure {
  const where = channel === null ? 'your direct messages' : `<#${channel}>`;
  if (code === undefined)
    return { message: 'Slack asks for a pause.', hint: 'Send the form again in a minute.' };
  if (code === 'held_back')
    return {
      message:
        'What you typed holds a key or token that is in use, so nothing was posted. Nothing was asked of the CDN.',
      hint: 'Fill in the form again without it: `/cdn export`.',
      reference,
    };
  if (code === 'is_archived')
    return { message: `${where} is archived.`, hint: 'Choose another channel, or only you.' };
  if (code === 'not_in_channel' || code === 'channel_not_found')
    return {
      message: `The bot is not in ${where}, so it cannot post there. Nothing was asked of the CDN.`,
      hint: 'Invite it: type `/invite @cdn` in that channel, then send the form again.',
    };
  return {
    message: `Slack does not let the bot post in ${where} (${code}).`,
    hint: canBeLifted(code) ? describeLift(code) : 'Send the form again, or choose another channel.',
  };
}
