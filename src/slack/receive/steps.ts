import { z } from 'zod';
import { tenantId } from '../../auth/identity.ts';
import { findStep, personInput, readInputs } from '../../commands/steps.ts';
import { beginStepRun, endStepRun, type StepRun, type StepRunEnd } from '../../outbox/complete-step.ts';
import { mapTexts, redactSecrets } from '../../secrets/scanner.ts';
import { registerSecret } from '../../secrets/secret.ts';
import { describeStepFailure } from '../../views/steps.ts';
import { findInstallation, readSender } from '../sender.ts';
import { perform, type SlackDeps } from './perform.ts';

/** Without name or inputs a run still ends with an error; without its id it cannot be ended. */
const executedStep = z.object({
  event: z.object({
    type: z.literal('function_executed'),
    function: z.object({ callback_id: z.string() }).catch({ callback_id: '' }),
    inputs: z.record(z.string(), z.unknown()).catch({}),
    function_execution_id: z.string().min(1),
    bot_access_token: z.unknown().optional(),
  }),
});

interface DeliveredStep extends StepRun {
  readonly callbackId: string;
  readonly inputs: Readonly<Record<string, unknown>>;
  readonly body: object;
  /** False if Slack sent it again. */
  readonly isNew: boolean;
}

/** Stores the run of a workflow step. Call before the acknowledgement: where this rejects, Slack must send it again. */
export async function beginStep(
  { ledger, log, now }: SlackDeps,
  body: object,
): Promise<DeliveredStep | 'incomplete'> {
  const { data, error } = executedStep.safeParse(body);
  const installation = findInstallation(body);
  if (!data || !installation) {
    const missing = error?.issues.map(({ path }) => path.join('.')) ?? ['team_id'];
    log.warn({ missing }, 'cannot run a step of a workflow: its event lacks something');
    return 'incomplete';
  }
  const { event } = data;
  const { inputs, function_execution_id: run } = event;
  // The token is of the run alone and ends within minutes: the bot completes with its own. Neither goes anywhere.
  registerSecret('slack-token', event.bot_access_token);
  const { [personInput.name]: person, ...given } = inputs;
  registerSecret('slack-user-context', z.object({ secret: z.string() }).safeParse(person).data?.secret);
  const ifItDies = 'The bot stopped while it worked on this step. Run the workflow again.';
  const isNew = await beginStepRun(ledger, { run, installation }, { now: now(), ifItDies });
  return { run, installation, callbackId: event.function.callback_id, inputs: given, body, isNew };
}

const nobody =
  'This step works for the person who runs the workflow, and Slack named nobody. The workflow’s author can let ' +
  'it start from a link or button; the team that runs this bot can paste its manifest again.';

export async function refuseStep(
  { ledger }: Pick<SlackDeps, 'ledger'>,
  { run, installation, isNew }: DeliveredStep,
): Promise<void> {
  const error = 'The bot is busy: too many requests are waiting. Run the workflow again in a moment.';
  // One that came before is worked on already.
  if (isNew) await endStepRun(ledger.enqueue, { run, installation }, { error });
}

/** Runs an acknowledged step as the person who runs the workflow. Every failure becomes the step's error. */
export async function runStep(deps: SlackDeps, delivered: DeliveredStep): Promise<void> {
  const { callbackId, inputs, body, run, installation } = delivered;
  const end = (how: StepRunEnd): Promise<void> =>
    // Redacted here, where the secrets of this work are known: it leaves from a job.
    endStepRun(deps.ledger.enqueue, { run, installation }, mapTexts(how, redactSecrets) as StepRunEnd);
  const step = findStep(callbackId);
  if (!step) return end({ error: 'This step is from another version of the bot.' });
  if (!readSender(body, deps.access.own())) return end({ error: nobody });
  await perform(
    deps,
    { kind: 'step', body, claim: run },
    {
      feature: step.id,
      needs: step.needs,
      route: {},
      async run({ context }) {
        const result = await step.run(readInputs(step, inputs), context, run);
        if (result === 'with its operation') return;
        const { person } = context;
        await deps.audit.record({
          tenant: tenantId(person),
          actor: person.userId,
          event: 'step-run',
          subject: step.id,
          detail: { run },
        });
        await end(result);
      },
      async showFailure({ failure }) {
        await end({ error: describeStepFailure(failure) });
        return true;
      },
    },
  );
}
