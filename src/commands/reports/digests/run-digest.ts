import { sql } from 'kysely';
import { ApiError } from '../../../api/http/errors.ts';
import { createErrorBudget } from '../../../api/http/request.ts';
import { UserError } from '../../../errors.ts';
import { findNextRun } from '../../../lib/schedule.ts';
import { hourMs, minuteMs } from '../../../lib/time.ts';
import { defineMessage, type Refusal } from '../../../outbox/outbox.ts';
import { SlackFailure } from '../../../outbox/slack-port.ts';
import type { Db, Trx } from '../../../store/schema.ts';
import type { Failure } from '../../../views/blocks/failure.ts';
import { escapeMrkdwn } from '../../../views/blocks/text.ts';
import {
  type RenderedDigest,
  renderPost,
  renderRunFailed,
  renderSections,
  renderSkipped,
  type Section,
} from '../../../views/reports/digests/post.ts';
import { type Digest, type DigestSubject, targetTypes } from '../../../views/reports/report.ts';
import { type AccountReads, BudgetSpent } from '../accounts.ts';
import type { CollectResult, Past, ReadFailure } from '../checks/check.ts';
import { type DigestKindName, digestKinds, findDigestKind } from '../checks/list.ts';
import { classifyCdnFailure, findLostPlace, findRefusal, pauseReport, pauseReports } from '../life.ts';
import {
  acceptBaseline,
  beginAttempt,
  type Collected,
  type DigestBaseline,
  type DigestPast,
  enqueueRun,
  type FinalPost,
  figuresForm,
  findReport,
  loadPast,
  moveRun,
  type ReportContext,
  type ReportPorts,
  type RunKey,
  type RunRow,
  storePendingBaseline,
  type UnreadPart,
} from '../store.ts';

const mostAttempts = 4;
/** Failed requests of an attempt, of all its parts together, after which it fails. */
const mostFailedRequests = 4;
const mostFailures = 3;
const collectingMs = 3 * minuteMs;
/** The pause between two attempts doubles. */
const firstPauseMs = 20_000;
const longestPauseMs = 10 * minuteMs;

const lateMs = 10 * minuteMs;
/** Later than this, or than half the way to the next run, it would be about another day. */
const tooOldMs = 6 * hourMs;
/** A post that was made longer ago than this, and is not sent yet, is made again. */
const staleMs = 10 * minuteMs;

type Attempt = ReportContext & { readonly digest: Digest; readonly run: RunRow };

/** Collects a run and puts its post into the outbox, or finds that it stays silent. */
export async function runDigest(key: RunKey, context: ReportContext): Promise<void> {
  const { db, now } = context;
  const run = await beginAttempt(db, key);
  if (!run) return;
  const digest = await findReport(db, run.report_id, 'digest');
  if (!digest || digest.deletedAt || (digest.paused && run.by_hand === null)) {
    await moveRun(db, run, 'collecting', 'cancelled');
    return;
  }
  const attempt = { ...context, digest, run };
  const behindMs = now().getTime() - run.due.getTime();
  // A run that a person asked for is about now.
  const next = run.by_hand === null ? findNextRun(digest.schedule, run.due).getTime() : undefined;
  const periodMs = next === undefined ? Number.POSITIVE_INFINITY : next - run.due.getTime();
  const isLate = behindMs > lateMs;
  if (isLate && behindMs > Math.min(tooOldMs, periodMs / 2))
    return postInstead(attempt, { arrives: 'skipped' });
  try {
    const refused = await findRefusal(digest, attempt.ports, context.signal);
    if (refused) return await pauseReport(digest, refused, attempt);
    await collectInTime(attempt, isLate);
  } catch (error) {
    // The bot stops: the job runs again.
    if (context.signal.aborted) throw error;
    await handleFailure(attempt, error);
  }
}

async function collectInTime(attempt: Attempt, isLate: boolean): Promise<void> {
  const { digest, run, db, ports, now } = attempt;
  const signal = AbortSignal.any([attempt.signal, AbortSignal.timeout(collectingMs)]);
  const budget = createErrorBudget(mostFailedRequests);
  const account = await ports.accounts.open(digest.owner, signal, budget, run.by_hand !== null);
  const past = await loadPast(db, digest.id, run.due);
  const explain = (error: unknown) => ports.explain(error, 'digest');
  const about = { account, now: now(), explain, ...past };
  const { collected, baseline } = await collectDigest(digest.subject, about);
  const { quiet, thread } = renderDigest(collected);
  const failed = db.updateTable('reports').where('id', '=', digest.id).where('failures', '>', 0);
  await failed.set({ failures: 0 }).execute();
  // A person who presses "Run now" wants to see it.
  const isSilent = quiet && run.by_hand === null && run.missed === 0;
  const figures = JSON.stringify(collected);
  await db.transaction().execute(async (trx) => {
    if (!(await moveRun(trx, run, 'collecting', isSilent ? 'quiet' : 'sending', { figures }))) return;
    const remembered = isSilent ? baselineAfterSilence(past.baseline, baseline) : baseline;
    await storePendingBaseline(trx, run, remembered);
    if (isSilent) return acceptBaseline(trx, run);
    const late = isLate ? now().toISOString() : undefined;
    await putPost(trx, attempt, { arrives: 'sent', late, replies: thread.length });
  });
}

async function handleFailure(attempt: Attempt, error: unknown): Promise<void> {
  const { digest, run, db, now, log, ports } = attempt;
  const found = classifyCdnFailure(error);
  if (typeof found === 'string') return pauseReport(digest, found, attempt);
  // At least what the CDN asks for, and doubled with each attempt.
  const doubled = firstPauseMs * 2 ** (run.attempts - 1);
  const pauseMs = found && Math.min(longestPauseMs, Math.max(found.retryAfterMs, doubled));
  const at = error instanceof BudgetSpent ? error.resetsAt : pauseMs && new Date(now().getTime() + pauseMs);
  if (at && run.attempts < mostAttempts) {
    log.warn({ digest: digest.id, attempts: run.attempts, error }, 'digest run is retried later');
    return db.transaction().execute(async (trx) => {
      if (await moveRun(trx, run, 'collecting', 'due', { run_at: at }))
        await enqueueRun(ports.enqueue, run, { in: trx, at });
    });
  }
  const failure = ports.explain(error, 'digest');
  if (run.by_hand === null) {
    const failed = db.updateTable('reports').set({ failures: sql<number>`failures + 1` });
    const row = await failed.where('id', '=', digest.id).returning('failures').executeTakeFirst();
    if (row && row.failures >= mostFailures) return pauseReport(digest, 'failing', attempt);
  }
  await postInstead(attempt, { arrives: 'failed', failure });
}

async function postInstead(attempt: Attempt, post: Pick<Post, 'arrives' | 'failure'>): Promise<void> {
  await attempt.db.transaction().execute(async (trx) => {
    if (await moveRun(trx, attempt.run, 'collecting', 'sending')) await putPost(trx, attempt, post);
  });
}

interface Post {
  readonly arrives: FinalPost;
  /** When it was collected, as ISO text, if that was late. */
  readonly late?: string | undefined;
  readonly failure?: Failure;
}

interface AboutRun extends Post {
  readonly digestId: string;
  readonly due: string;
  readonly attempt: number;
}

/** Puts what a run posts into the outbox: the first message into the channel, the others into its thread. */
async function putPost(
  trx: Trx,
  { digest, run, ports: { outbox }, now }: Attempt,
  { replies = 0, ...post }: Post & { readonly replies?: number },
): Promise<void> {
  const id = `digest:${run.report_id}:${run.due.toISOString()}:${run.attempts}`;
  const about = { digestId: digest.id, due: run.due.toISOString(), attempt: run.attempts, ...post };
  await outbox.put(trx, {
    id,
    kind: digestPost,
    about,
    installation: digest.owner,
    to: { places: [digest.channel] },
    doubt: 'look',
    ...(post.arrives === 'sent' ? { expiresAt: new Date(now().getTime() + staleMs) } : {}),
  });
  for (let nth = 0; nth < replies; nth += 1) {
    await outbox.put(trx, {
      id: `${id}:${nth + 1}`,
      kind: digestDetail,
      about: { ...about, nth },
      installation: digest.owner,
      to: { parent: id },
      doubt: 'once',
    });
  }
}

const digestPost = defineMessage<AboutRun, ReportPorts>({
  kind: 'digest-post',
  // Its text alone says nothing: the owner reads why it was refused.
  renderInstead: 'nothing',
  async render(about, { db }) {
    const found = await loadPost(db, about);
    if (!found) return undefined;
    const { digest, run, rendered } = found;
    const { arrives, late, failure } = about;
    if (arrives === 'skipped') return renderSkipped(digest, run.due, run.missed);
    if (failure) return renderRunFailed(digest, run.due, failure);
    // Of another version of the bot: it expires, and is made again.
    if (!rendered) throw new Error('the figures of this post are not there to be drawn');
    return renderPost(rendered, digest, run, late === undefined ? undefined : new Date(late));
  },
  async ended(trx, { about, state, reason, code, reference }, context) {
    const { digestId: id, due, attempt, arrives } = about;
    const { ports, now } = context;
    const run = { report_id: id, due: new Date(due), attempts: attempt };
    if (reason === 'expired') {
      if (code !== undefined) await putLostNotice(trx, about, context, { code, reference });
      if (await moveRun(trx, run, 'sending', 'due', { run_at: now() }))
        await enqueueRun(ports.enqueue, run, { in: trx });
      return;
    }
    const ends = { sent: arrives, unknown: 'unknown', dead: 'failed' } as const;
    // Nothing is left to tell of a digest that was deleted meanwhile.
    const to = reason === 'withdrawn' ? 'cancelled' : ends[state];
    if (!(await moveRun(trx, run, 'sending', to))) return;
    // People were told: the next run compares with this one.
    if (to === 'sent') await acceptBaseline(trx, run);
    const lost = findLostPlace({ reason, code });
    if (lost) await pauseReports(trx, { id }, lost, ports);
    else if (to === 'unknown') await putLostNotice(trx, about, context);
    else if (reason === 'refused' && code !== undefined)
      await putLostNotice(trx, about, context, { code, reference });
  },
});

const digestDetail = defineMessage<AboutRun & { readonly nth: number }, ReportPorts>({
  kind: 'digest-detail',
  render: async (about, { db }) => (await loadPost(db, about))?.rendered?.thread[about.nth],
  async ended(trx, { about, state, reason, code = 'no_answer', reference }, context) {
    // The end of its parent has already been reported.
    if (state === 'sent' || reason === 'parent' || reason === 'withdrawn') return;
    const refusal = { code: state === 'unknown' ? 'no_answer' : code, reference };
    await putLostNotice(trx, about, context, refusal, 'posted in full');
  },
});

async function loadPost(db: Db, { digestId, due }: Pick<AboutRun, 'digestId' | 'due'>) {
  const digest = await findReport(db, digestId, 'digest');
  const runs = db.selectFrom('report_runs').selectAll();
  const run = await runs
    .where((row) => row.and({ report_id: digestId, due: new Date(due) }))
    .executeTakeFirst();
  const figures = run?.figures ? (JSON.parse(run.figures) as Collected) : undefined;
  const rendered = figures?.form === figuresForm ? renderDigest(figures) : undefined;
  return digest && run && !digest.deletedAt ? { digest, run, rendered } : undefined;
}

type AboutLost = Pick<AboutRun, 'digestId' | 'due'> & {
  readonly refusal?: Refusal | undefined;
  readonly missed?: 'posted in full' | undefined;
};

/** To the owner, else to the configured admins, once a run: a person has to look, and decides. */
async function putLostNotice(
  trx: Trx,
  { digestId, due }: AboutRun,
  { ports, log }: ReportContext,
  refusal?: Refusal,
  missed?: AboutLost['missed'],
): Promise<void> {
  log.warn({ digest: digestId, due, code: refusal?.code }, 'digest was not posted, or may not have been');
  const digest = await findReport(trx, digestId, 'digest');
  if (!digest) return;
  const about: AboutLost = { digestId, due, refusal, missed };
  await ports.outbox.put(trx, {
    id: `digest-unknown:${digestId}:${due}:${refusal?.code ?? ''}`,
    kind: lostNotice,
    about,
    installation: digest.owner,
    to: { places: [...new Set([digest.owner.userId, ...ports.people(digest.owner).configuredAdmins])] },
    doubt: 'retry',
  });
}

const noAnswer: Failure = {
  message: 'Slack gave no answer, so it may or may not be there.',
  hint: 'Check there before you run it again.',
};

const lostNotice = defineMessage({
  kind: 'digest-unknown',
  async render({ refusal, missed, ...about }: AboutLost, { db, ports }: ReportContext) {
    const { digest, run } = (await loadPost(db, about)) ?? {};
    // It may have arrived meanwhile.
    if (!digest || !run || (run.state === 'sent' && !missed)) return undefined;
    const failure = refusal ? ports.explain(new SlackFailure(refusal.code, refusal), 'digest') : noAnswer;
    return renderRunFailed(digest, run.due, failure, missed ?? (refusal ? 'posted' : 'confirmed'));
  },
});

export const digestMessages = [digestPost, digestDetail, lostNotice];

interface CollectOptions extends DigestPast {
  readonly account: AccountReads;
  readonly now: Date;
  readonly explain: (error: unknown) => Pick<Failure, 'message' | 'reference'>;
}

/**
 * Reads what a digest reports and compares it with earlier runs, for a run and a preview.
 * @throws ApiError where the key is refused, requests were cancelled, or nothing could be read; BudgetSpent.
 */
export async function collectDigest(
  subject: DigestSubject,
  { account, now, explain, ...past }: CollectOptions,
): Promise<{ readonly collected: Collected; readonly baseline: DigestBaseline }> {
  // Runs are compared by name through the baseline: without it this is a first run.
  const history = past.baseline ? past.history : [];
  const chosen = digestKinds.filter(({ name }) => subject.kinds.some((one) => one.name === name));
  const figures: Record<string, unknown> = {};
  const sections: Partial<Record<DigestKindName, Section>> = {};
  const byKind: Record<string, unknown> = { ...past.baseline?.byKind };
  const { targets, called, only, timeZone } = subject;
  const unread: UnreadPart[] = [];
  let firstFailure: ReadFailure | undefined;
  for (const { name, collect } of chosen) {
    const read = ({ at, [name]: figures }: Collected): Past<unknown>[] =>
      figures === undefined ? [] : [{ at: Date.parse(at), figures }];
    const found = await collect({
      account,
      now,
      targets,
      called,
      timeZone,
      past: history.flatMap(read),
      baseline: byKind[name],
    }).catch((reason: unknown): CollectResult<unknown, unknown> => ({ failures: [{ reason }] }));
    const { failures = [] } = found;
    for (const { reason } of failures) if (isFatal(reason)) throw reason;
    firstFailure ??= failures[0];
    unread.push(...failures.map((failure) => ({ kind: name, ...describeFailure(failure, explain) })));
    if (found.section) sections[name] = found.section;
    if (found.figures !== undefined) figures[name] = found.figures;
    if (found.baseline !== undefined) byKind[name] = found.baseline;
  }
  // What a kind says itself is in the post.
  if (Object.keys(sections).length === 0 && firstFailure && !(firstFailure.reason instanceof UserError))
    throw firstFailure.reason;
  return {
    collected: { at: now.toISOString(), form: figuresForm, only, timeZone, ...figures, sections, unread },
    baseline: { byKind },
  };
}

function isFatal(reason: unknown): boolean {
  if (reason instanceof ApiError) return reason.code === 'key_refused' || reason.code === 'cancelled';
  return reason instanceof BudgetSpent;
}

function describeFailure(
  { what, reason }: ReadFailure,
  explain: CollectOptions['explain'],
): Omit<UnreadPart, 'kind'> {
  const { message, reference } =
    reason instanceof UserError ? { message: reason.message, reference: undefined } : explain(reason);
  return { message: message.slice(0, 500), reference, what: what?.slice(0, 100) };
}

/** Pure. */
export function renderDigest(collected: Collected): RenderedDigest {
  const sections = digestKinds.flatMap(({ name, label }) => {
    const section = collected.sections[name];
    return section ? [{ label, ...section }] : [];
  });
  const unread = collected.unread.map((part) => ({ ...part, name: nameUnread(part) }));
  return renderSections(sections, unread, collected);
}

function nameUnread({ kind, what }: UnreadPart): string {
  const { label, target } = findDigestKind(kind);
  if (what === undefined) return label.toLowerCase();
  const noun = target === 'zones' ? '' : `${targetTypes[target].noun.toLowerCase()} `;
  return `${label.toLowerCase()} of ${noun}${escapeMrkdwn(what, 60)}`;
}

/** After a silent run people know what they were told before; a first run begins with what it found. */
export function baselineAfterSilence(
  told: DigestBaseline | undefined,
  found: DigestBaseline,
): DigestBaseline {
  const byKind: Record<string, unknown> = { ...found.byKind, ...told?.byKind };
  for (const { name, keepUnreported } of digestKinds) {
    const [old, latest] = [told?.byKind[name], found.byKind[name]];
    if (keepUnreported && old !== undefined && latest !== undefined)
      byKind[name] = keepUnreported(old, latest);
  }
  return { byKind };
}
