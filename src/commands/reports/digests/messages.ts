import { minuteMs } from '../../../lib/time.ts';
import { defineMessage, type Outbox, type Refusal } from '../../../outbox/outbox.ts';
import { SlackFailure } from '../../../outbox/slack-port.ts';
import type { Trx } from '../../../store/schema.ts';
import type { Message } from '../../../views/blocks/blocks.ts';
import { renderRunFailed, renderUnknown } from '../../../views/reports/digests/notices.ts';
import { toPlaceReason } from '../failures.ts';
import type { Digest, ReportContext, ReportPorts } from '../model.ts';
import { pauseReports } from '../pauses.ts';
import { enqueueRun } from '../queue.ts';
import { findDigest } from '../table.ts';
import { acceptBaseline, moveRun, type RunRow, type RunState } from './runs.ts';

/** A post that was made longer ago than this, and is not sent yet, is made again. */
const staleMs = 10 * minuteMs;

interface AboutRun {
  readonly digestId: string;
  /** ISO text. */
  readonly due: string;
  /** The `attempts` of the run that made it. */
  readonly attempt: number;
  /** The state of the run once the post has arrived. */
  readonly arrives: Extract<RunState, 'sent' | 'skipped' | 'failed'>;
}

/** Puts what a run posts into the outbox: the first message into the channel, the others into its thread. */
export async function putPost(
  trx: Trx,
  post: {
    readonly digest: Digest;
    readonly run: Pick<RunRow, 'due' | 'attempts'>;
    readonly arrives: AboutRun['arrives'];
    readonly top: Message;
    readonly thread?: readonly Message[];
    readonly now: Date;
  },
  { outbox }: ReportPorts,
): Promise<void> {
  const { digest, arrives, top, thread = [], now } = post;
  const { attempts: attempt } = post.run;
  const due = post.run.due.toISOString();
  const id = postId({ report_id: digest.id, ...post.run });
  const about = { digestId: digest.id, due, attempt, arrives };
  await outbox.put(trx, {
    id,
    kind: digestPost,
    about,
    installation: digest.owner,
    to: { places: [digest.channel] },
    body: top,
    doubt: 'look',
    ...(arrives === 'sent' ? { expiresAt: new Date(now.getTime() + staleMs) } : {}),
  });
  for (const [index, body] of thread.entries()) {
    await outbox.put(trx, {
      id: `${id}:${index + 1}`,
      kind: digestDetail,
      about,
      installation: digest.owner,
      to: { parent: id },
      body,
      doubt: 'once',
    });
  }
}

/** The posts of a deleted digest are not sent any more; those of a paused one are. */
export async function cancelPosts(trx: Trx, digestId: string, outbox: Outbox): Promise<void> {
  const sending = trx
    .selectFrom('report_runs')
    .where('report_id', '=', digestId)
    .where('state', '=', 'sending');
  for (const run of await sending.selectAll().execute())
    if (await outbox.cancel(trx, postId(run))) await moveRun(trx, run, 'sending', 'cancelled');
}

function postId({ report_id, due, attempts }: Pick<RunRow, 'report_id' | 'due' | 'attempts'>): string {
  return `digest:${report_id}:${due.toISOString()}:${attempts}`;
}

const digestPost = defineMessage<AboutRun, ReportPorts>({
  kind: 'digest-post',
  renderInstead: renderRefused,
  async ended(trx, { about, state, reason, code }, context) {
    const { digestId: id, due, attempt, arrives } = about;
    const run = { report_id: id, due: new Date(due), attempts: attempt };
    const { ports, now } = context;
    if (reason === 'expired') {
      if (await moveRun(trx, run, 'sending', 'due', { run_at: now() }))
        await enqueueRun(ports.enqueue, run, { in: trx });
      return;
    }
    // With a code: in its place went a message that says why.
    const hasArrived = state === 'sent' && code === undefined;
    const to = state === 'unknown' ? state : hasArrived ? arrives : 'failed';
    if (!(await moveRun(trx, run, 'sending', to))) return;
    // People were told: the next run compares with this one.
    if (to === 'sent') await acceptBaseline(trx, run);
    if (to === 'unknown') await putUnknownNotice(trx, about, context);
    const isOver = reason === 'app-gone' || reason === 'place-gone';
    const pause = reason === 'app-gone' ? 'uninstalled' : toPlaceReason(code);
    if (isOver) await pauseReports(trx, { id }, { reason: pause, at: now() }, ports);
  },
});

/** The rest of a post, in its thread. */
const digestDetail = defineMessage({ kind: 'digest-detail', renderInstead: renderRefused });

/** Says in the place of a message that Slack refuses as it is. */
async function renderRefused(
  { digestId, due, arrives }: AboutRun,
  { code, reference }: Refusal,
  { db, ports }: ReportContext,
): Promise<Message | undefined> {
  if (arrives === 'failed') return undefined;
  const digest = await findDigest(db, digestId);
  const failure = ports.explain(new SlackFailure('refused', code, { reference }), 'digest');
  return digest && renderRunFailed(digest, new Date(due), failure);
}

/** To the owner, else to the configured admins: a person has to look, and decides. */
async function putUnknownNotice(trx: Trx, about: AboutRun, { ports, log }: ReportContext): Promise<void> {
  const { digestId, due, attempt } = about;
  log.warn({ digest: digestId, due }, 'unknown whether a digest was posted');
  const digest = await findDigest(trx, digestId);
  if (!digest) return;
  const { configuredAdmins } = ports.people(digest.owner);
  await ports.outbox.put(trx, {
    id: `digest-unknown:${digestId}:${due}:${attempt}`,
    kind: unknownNotice,
    about: { digestId, due },
    installation: digest.owner,
    to: { places: [digest.owner.userId, ...configuredAdmins] },
    doubt: 'once',
  });
}

const unknownNotice = defineMessage({
  kind: 'digest-unknown',
  async render({ digestId, due }: { digestId: string; due: string }, { db }: ReportContext) {
    const digest = await findDigest(db, digestId);
    return digest && renderUnknown(digest, new Date(due));
  },
});

/** Every kind of message that digests put into the outbox. */
export const digestMessages = [digestPost, digestDetail, unknownNotice];
