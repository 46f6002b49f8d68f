import { z } from 'zod';
import { decideApproval } from '../../auth/policy/policy.ts';
import { defineJob } from '../../store/queue/define-job.ts';
import { renderReminder } from '../../views/operations/approvals.ts';
import { findApproverCandidates } from '../load-context.ts';
import type { Operation } from '../model.ts';
import type { OperationContext } from './ports.ts';

/**
 * What time does to operations, once a minute: what waited too long expires, what a process left behind becomes
 * unknown, and approvers are reminded once, at half time. The messages follow by themselves.
 */
export const operationClockJob = defineJob({
  name: 'operation-clock',
  cron: '* * * * *',
  data: z.object({}),
  // The next minute does it again.
  retries: 0,
  async run(_, context: OperationContext) {
    const { ports, log } = context;
    const { operations } = ports;
    const expired = await operations.expireDue();
    const abandoned = await operations.abandoned();
    if (expired.length + abandoned.length > 0)
      log.info({ expired: expired.length, abandoned: abandoned.length }, 'operations moved with time');
    for (const operation of await operations.remindDue()) {
      // Marked first: reminding never is better than reminding every minute.
      if (await operations.markReminded(operation.id)) await remind(operation, context);
    }
    await operations.forgetValues();
  },
});

const mostNamed = 10;

async function remind(operation: Operation, { ports, signal, log }: OperationContext): Promise<void> {
  try {
    const policy = await ports.authorizer(operation.requester).policy();
    const done = new Set([operation.requester.userId, ...operation.approvals.map(({ by }) => by)]);
    const candidates = await findApproverCandidates(ports.people(operation.requester), policy);
    const missing = candidates.filter(
      (actor) => decideApproval(policy, actor).allowed && !done.has(actor.userId),
    );
    const message = renderReminder(
      operation,
      missing.slice(0, mostNamed).map(({ userId }) => userId),
    );
    const slack = ports.slack(operation.requester, signal);
    for (const { role, channel, ts } of operation.messages) {
      if (role === 'approval') await slack.post(channel, message, { thread: ts });
    }
  } catch (error) {
    log.warn({ error, operation: operation.id }, 'approvers could not be reminded');
  }
}
