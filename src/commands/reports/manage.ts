import { tenantId } from '../../auth/identity.ts';
import { assertKnown } from '../../auth/policy/authorizer.ts';
import { decideDestination } from '../../auth/policy/policy.ts';
import { UserError } from '../../errors.ts';
import type { Message } from '../../views/blocks/blocks.ts';
import { formatCode } from '../../views/blocks/text.ts';
import * as views from '../../views/reports/card.ts';
import { describePause, formatPlace } from '../../views/reports/words.ts';
import type { Action, Context } from '../define.ts';
import { undoMinutes } from './life.ts';
import { canBeTakenOver, isChannelReason, type Report, type ReportKind, type ReportOf } from './model.ts';

type ManageContext = Context;

/** Answered in a message of its own, since everybody in the channel shares the message. Needs no key: the owner's is used. */
export const ownMessage = { needs: 'none', newMessage: true } as const;

/** @throws UserError where there is none with this id, or it was deleted. */
export async function findReport<Kind extends ReportKind>(
  kind: Kind,
  id: string,
  { reports, person }: Context,
): Promise<ReportOf<Kind>> {
  const found = await reports.find(tenantId(person), id.trim().toLowerCase());
  if (found?.kind === kind && !found.deletedAt) return found as ReportOf<Kind>;
  throw new UserError(
    `There is no ${kind} ${formatCode(id, 20)}${found?.kind === kind ? ' any more' : ''}.`,
    `\`/cdn ${kind} list\` shows all.`,
  );
}

/** The same, for its owner and admins. */
export async function findManaged<Kind extends ReportKind>(
  kind: Kind,
  id: string,
  context: Context,
): Promise<ReportOf<Kind>> {
  const report = await findReport(kind, id, context);
  await requireManager(report, context);
  return report;
}

async function requireManager({ kind, owner }: Report, { person, decide }: Context): Promise<void> {
  if (owner.userId === person.userId || assertKnown(await decide('admin')).allowed) return;
  throw new UserError(
    `Only <@${owner.userId}>, who owns this ${kind}, and admins can do that.`,
    `Ask them, or create your own: \`/cdn ${kind} new\``,
  );
}

/** It runs with its owner's key, also if an admin resumes it. */
export async function requireOwnersKey({ owner }: Report, { keyStore, person }: Context): Promise<void> {
  if (await keyStore.describe(owner)) return;
  if (owner.userId === person.userId)
    throw new UserError('You have no CDN key connected.', 'Connect it, then resume.', 'connect');
  throw new UserError(
    `<@${owner.userId}> has no CDN key connected.`,
    'They can connect one, or you edit it and it uses yours.',
  );
}

/** Verbs of the command and buttons that change who owns a digest or alert, and whether it runs. */
export function createVerbs(kind: ReportKind) {
  async function pause(id: string, context: ManageContext): Promise<Message> {
    const report = await findManaged(kind, id, context);
    const paused = report.paused ? report : await context.reports.pause(report, context.person);
    return views.renderPausedByHand(paused);
  }

  async function resume(id: string, context: ManageContext): Promise<Message> {
    const report = await findManaged(kind, id, context);
    if (!report.paused) return views.renderResumed(report, context.now());
    await requireOwnersKey(report, context);
    // If the channel takes no message, the next run would only pause it again.
    const notice = views.renderUnchanged(report, context.person.userId);
    if (isChannelReason(report.paused.reason) && !(await context.post(report.channel, notice)))
      throw new UserError(
        `I can't post in ${formatPlace(report.channel)}, so the ${kind} ${formatCode(report.id)} stays paused.`,
        `Invite me there (\`/invite @cdn\`) and resume it, or pick another channel: \`/cdn ${kind} edit ${report.id}\``,
      );
    return views.renderResumed(await context.reports.resume(report, context.person), context.now());
  }

  async function remove(id: string, context: ManageContext): Promise<Message> {
    const report = await findManaged(kind, id, context);
    return views.renderDeleted(await context.reports.delete(report, context.person), undoMinutes);
  }

  async function restore(id: string, context: ManageContext): Promise<Message> {
    const { reports, person, now } = context;
    const report = await reports.find(tenantId(person), id);
    if (report) await requireManager(report, context);
    const restored = report?.deletedAt ? await reports.restore(report, person) : report;
    if (restored) return views.renderRestored(restored, now());
    throw new UserError(
      `The ${kind} ${formatCode(id, 20)} is gone. Deletions can be undone for ${undoMinutes} minutes.`,
      `Create a new one: \`/cdn ${kind} new\``,
    );
  }

  /** Resumes everything of the person's that was paused when the app was removed. */
  async function resumeAll(_value: string, context: ManageContext): Promise<Message> {
    const { reports, person } = context;
    const stopped = (await reports.list(tenantId(person))).filter(
      (report) =>
        report.kind === kind &&
        report.owner.userId === person.userId &&
        report.paused?.reason === 'uninstalled',
    );
    const [first] = stopped;
    if (!first)
      throw new UserError(
        `None of your ${kind}s is still paused for that reason.`,
        `See \`/cdn ${kind} list\`.`,
      );
    await requireOwnersKey(first, context);
    const resumed: Report[] = [];
    for (const report of stopped) resumed.push(await reports.resume(report, person));
    return views.renderResumedAll(resumed);
  }

  async function takeOver(id: string, context: ManageContext): Promise<Message> {
    const { person, reports } = context;
    const report = await findReport(kind, id, context);
    if (!canBeTakenOver(report)) {
      const { paused, owner } = report;
      throw new UserError(
        paused
          ? `The ${kind} ${formatCode(report.id)} is ${describePause(paused.reason, paused.by)}: only its owner and admins can change that.`
          : `The ${kind} ${formatCode(report.id)} is running again, with the key of <@${owner.userId}>.`,
        `\`/cdn ${kind} list\` shows its state.`,
      );
    }
    const refused = await findChannelRefusal(kind, report.channel, context);
    if (refused !== undefined) throw new UserError(refused, 'An admin can change that with `/cdn settings`.');
    const taken = await reports.takeOver(report, person);
    const notice = views.renderTakenOver(taken, person.userId, context.now());
    // Its channel sees it in the place of the notice; pressed elsewhere, the channel is told.
    const isSeen = context.message?.channel === taken.channel || (await context.post(taken.channel, notice));
    return isSeen ? notice : views.renderTakenOverOnly(taken);
  }

  /** Those without `ownMessage`: the answer replaces the message that offered the button. */
  const buttons: readonly Action[] = [
    { id: `${kind}s:pause`, ...ownMessage, run: pause },
    { id: `${kind}s:resume`, ...ownMessage, run: resume },
    { id: `${kind}s:delete`, ...ownMessage, run: remove },
    { id: `${kind}s:undo`, needs: 'none', run: restore },
    { id: `${kind}s:take-over`, needs: 'read', run: takeOver },
    { id: `${kind}s:resume-all`, needs: 'read', run: resumeAll },
  ];
  return { verbs: { pause, resume, delete: remove }, buttons };
}

/** Why this person's digest or alert may not go into a channel, in words; undefined = it may. Settings are read again. */
export async function findChannelRefusal(
  kind: ReportKind,
  channel: string,
  { authorizer, sharing }: Context,
): Promise<string | undefined> {
  const decision = await authorizer.decide('read', channel, { fresh: true });
  const destination = decideDestination(await authorizer.policy({ fresh: true }), 'digest', channel);
  const failed = [...decision.trace, ...destination.trace].find(({ ok }) => !ok);
  if (!failed && (await sharing.readAudience(channel)) === 'others')
    return `Your ${kind} can't post in ${formatPlace(channel)}: it is shared with another organization.`;
  return failed && `Your ${kind} can't post in ${formatPlace(channel)}: ${failed.says}.`;
}
