import { randomBytes } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { z } from 'zod';
import { type Person, personKey, tenantId, toPersonColumns } from '../../auth/identity.ts';
import {
  assertKnown,
  computeQuorum,
  findAdmins,
  findApproverCandidates,
} from '../../auth/policy/authorizer.ts';
import type { Decision } from '../../auth/policy/policy.ts';
import { UserError } from '../../errors.ts';
import { canonicalJson, type Json } from '../../lib/canonical-json.ts';
import { dayMs, minuteMs } from '../../lib/time.ts';
import { takeLock } from '../../store/database.ts';
import type { Message } from '../../views/blocks/blocks.ts';
import { renderRefusal } from '../../views/blocks/failure.ts';
import { formatCount, pluralize } from '../../views/blocks/format.ts';
import { type ApprovalNeeds, byWorkflow, waitsForRequester } from '../../views/operations/describe.ts';
import type { Context } from '../define.ts';
import { queueExecution } from './execute.ts';
import { countApprovals, type Kind, type OperationRow } from './kinds/kind.ts';
import { type FormAbout, linkStepRun, queueMessages, variableForm } from './messages.ts';
import {
  findCdnKey,
  findOperation,
  findRequestedBy,
  type Operation,
  type Proposal,
  readOperation,
  toStorable,
} from './model.ts';
import { collectSignedParts, computeSeal } from './seal.ts';
import {
  appendEvent,
  inTransaction,
  type Ledger,
  type LedgerTransaction,
  toAuditInput,
} from './transitions.ts';
import { commitToValue, storeValue } from './values.ts';

/** Stores a sealed request. Where the policy needs no approval, its execution is queued at once. */
export function propose(ledger: Ledger, proposal: Proposal): Promise<Operation> {
  return inTransaction(ledger, (tx) => storeProposal(tx, proposal));
}

/** Requests and open forms of one person by assistants: so many may wait, and be made in a day. */
const mostByAssistant = { waiting: 3, aDay: 10 };
const repeatedWithinMs = 5 * minuteMs;

/**
 * Proposes what an assistant asks for. The same request that still waits, or is the newest of the last minutes, is answered
 * again, since clients repeat calls. @throws UserError where there are too many
 */
export function proposeByAssistant(
  ledger: Ledger,
  proposal: Omit<Proposal, 'value'> & { readonly via: string },
): Promise<Operation> {
  const { requester, kind, request } = proposal;
  return inTransaction(ledger, async (tx) => {
    const { repeatable, assertRoom } = await countByAssistant(tx, requester);
    const wanted = canonicalJson(request as Json);
    const same = repeatable.find((one) => one.kind === kind && canonicalJson(one.request as Json) === wanted);
    if (same) return same;
    assertRoom();
    return storeProposal(tx, proposal);
  });
}

/** Writes to a person with the form that an assistant asked for. False where it is open already. @throws UserError */
export function sendFormByAssistant(
  ledger: Ledger,
  form: {
    readonly requester: Person;
    readonly path: string;
    readonly message: Message;
    readonly minutes: number;
  },
): Promise<boolean> {
  const { requester, path, message, minutes } = form;
  return inTransaction(ledger, async (tx) => {
    const { openForms, assertRoom } = await countByAssistant(tx, requester);
    if (openForms.some((form) => form.path === path)) return false;
    assertRoom();
    const at = tx.now();
    await tx.outbox.put(tx.db, {
      id: `variable-form:${newId()}`,
      kind: variableForm,
      about: { userId: requester.userId, path, at: at.getTime(), until: at.getTime() + minutes * minuteMs },
      installation: requester,
      to: { places: [requester.userId] },
      body: message,
      doubt: 'retry',
      expiresAt: new Date(at.getTime() + minutes * minuteMs),
    });
    return true;
  });
}

/** What assistants asked for within a day; nobody adds to it until the transaction ends. */
async function countByAssistant(tx: LedgerTransaction, requester: Person) {
  await takeLock(tx.db, `assistant/${personKey(requester)}`);
  const now = tx.now().getTime();
  const own = await findRequestedBy(tx, requester, 100);
  const asked = own.filter(isByAssistant).filter(({ createdAt }) => createdAt.getTime() > now - dayMs);
  const waiting = asked.filter(({ state, expiresAt }) => state === 'proposed' && expiresAt.getTime() > now);
  const newest = own.slice(0, 1).filter(({ createdAt }) => createdAt.getTime() > now - repeatedWithinMs);
  const isUnused = ({ path, at }: FormAbout): boolean =>
    !own.some(({ row, createdAt }) => createdAt.getTime() >= at && row.path === path);
  const forms = (await findForms(tx, requester, now - dayMs)).filter(isUnused);
  const openForms = forms.filter(({ until }) => until > now);
  return {
    repeatable: [...waiting, ...newest.filter(isByAssistant)],
    openForms,
    assertRoom: (): void => {
      if (waiting.length + openForms.length >= mostByAssistant.waiting)
        throw new UserError(
          `Assistants already have ${formatCount(mostByAssistant.waiting, 'request or form', 'requests or forms')} open for this person.`,
          'The person can decide or cancel one with `/cdn approvals`, or fill in a form that the bot sent.',
        );
      if (asked.length + forms.length >= mostByAssistant.aDay)
        throw new UserError(
          `Assistants already asked for ${formatCount(mostByAssistant.aDay, 'change')} in this person’s name in the last 24 hours.`,
          'The person can ask for more themselves; `/cdn approvals` shows where these stand.',
        );
    },
  };
}

function isByAssistant({ via }: Operation): boolean {
  return via !== undefined && via !== byWorkflow;
}

async function findForms({ db }: LedgerTransaction, { userId, ...place }: Person, since: number) {
  const rows = db
    .selectFrom('outbox')
    .select('about')
    .where((is) => is.and({ tenant: tenantId(place), kind: variableForm.kind }))
    .where('state', 'not in', ['dead', 'unknown'])
    .where('changed_at', '>', new Date(since));
  const forms = (await rows.execute()).map(({ about }) => JSON.parse(about) as FormAbout);
  return forms.filter((form) => form.userId === userId);
}

async function storeProposal(tx: LedgerTransaction, proposal: Proposal) {
  const { requester, channelId, kind, request, value, reason, snapshot, policy, approvers, stepRun } =
    proposal;
  const at = tx.now();
  const commitment = value && commitToValue(value);
  const owner = toPersonColumns(requester);
  const sealed = {
    ...owner,
    id: newId(),
    kind: kind.name,
    channel_id: channelId ?? null,
    ...kind.request(request, value),
    value_mac: commitment?.mac ?? null,
    cdn_key: kind.keyless ? null : await findCdnKey(tx, owner),
    reason: reason === undefined ? null : toStorable(reason),
    snapshot: canonicalJson(snapshot),
    policy_version: policy.version,
    approvals_needed: countApprovals(kind, policy),
    attempt_of: null,
    via: proposal.via ?? null,
    created_at: at,
    expires_at: new Date(at.getTime() + (kind.approval?.expiresAfterMs ?? policy.expiryMinutes * minuteMs)),
  };
  const { id } = sealed;
  const seal = computeSeal(sealed);
  const { keyId, mac } = tx.sealer.sign(collectSignedParts({ id, seal }));
  const by = requester.userId;
  const row: OperationRow = {
    ...sealed,
    state: 'proposed',
    seq: 1,
    seal,
    key_id: keyId,
    mac,
    moved_by: by,
    moved_at: at,
    outcome: null,
    approvers: JSON.stringify(approvers),
    reminded_at: null,
  };
  await tx.db.insertInto('operations').values(row).execute();
  const event = await appendEvent(tx, row, 'proposed');
  if (commitment) await storeValue(tx, row, commitment);
  if (stepRun !== undefined) await linkStepRun(tx, stepRun, row);
  const operation = readOperation(tx.kinds, row, [event]);
  await queueMessages(tx, operation, kind.approval ? undefined : policy.approvalChannel);
  tx.record(toAuditInput(operation, { to: 'proposed', by }));
  const { isConfirmed = false } = proposal;
  const waits = row.approvals_needed > 0 || (waitsForRequester(operation) && !isConfirmed);
  return waits ? operation : queueExecution({ tx, operation }, isConfirmed ? by : 'system');
}

const letters = 'abcdefghijkmnpqrstuvwxyz23456789';

/** Sixteen of 32 letters and digits: 80 random bits. */
function newId(): string {
  return Array.from(randomBytes(16), (byte) => letters[byte % letters.length]).join('');
}

export const longestReason = 500;

export function reasonField(missing: string) {
  const error = { error: missing };
  const tooLong = { error: `At most ${formatCount(longestReason, 'character')}.` };
  return z.string(error).trim().min(1, error).max(longestReason, tooLong);
}

/** The approvals that a request would need, by the policy of now. @throws UserError where it could only expire. */
export async function findApprovalNeeds(
  kind: Kind<unknown>,
  context: Context,
): Promise<ApprovalNeeds & Pick<Proposal, 'policy' | 'approvers'>> {
  const policy = await context.authorizer.policy({ fresh: true });
  const candidates = await findApproverCandidates(context.people, policy);
  const { needed, able, reachable } = computeQuorum(policy, kind.right, candidates, context.person.userId);
  if (!reachable) {
    const there =
      able.length === 0
        ? 'there are no other approvers'
        : `only ${formatCount(able.length, 'other person', 'other people')} can give one`;
    const { hint, offer } = await findHelp(context);
    throw new UserError(
      `Not allowed yet: this needs ${pluralize(needed, 'approval')}, and ${there}. Nothing was requested.`,
      `Requesters never approve their own requests; admins name approvers in the settings. ${hint}`,
      offer,
    );
  }
  return { policy, approvers: able, needed, able: able.length, minutes: policy.expiryMinutes };
}

/** Proposes a change and waits a moment for an outcome that needs no approval. @throws UserError */
export async function proposeChange(
  change: Omit<Proposal, 'requester' | 'channelId'>,
  context: Context,
): Promise<Operation> {
  await assertMayPropose(change.kind, context);
  const { ledger, person: requester, channelId } = context;
  const operation = await propose(ledger, { requester, channelId, ...change });
  return operation.approvalsNeeded === 0 ? waitForOutcome(operation, context) : operation;
}

/** @throws UserError where this person may not ask for such a change here, by the rights of now. */
export async function assertMayPropose(kind: Kind<unknown>, context: Context): Promise<void> {
  await assertAllowed(await context.decide(kind.right, { fresh: true }), context);
}

/** @throws UserError with what helps, where a decision refuses. */
export async function assertAllowed(decision: Decision, context: Context): Promise<void> {
  if (assertKnown(decision).allowed) return;
  context.refused(decision.reason);
  throw await createRefusal(decision, context);
}

/** What only one person and admins may do, who are named. @throws UserError */
export async function assertAdminFor(what: string, instead: string, context: Context): Promise<void> {
  const decision = assertKnown(await context.decide('admin', { fresh: true }));
  if (decision.allowed) return;
  const { hint } = await createRefusal(decision, context);
  throw new UserError(`Not allowed yet: ${what}`, `${instead} ${hint}`.trim(), 'ask');
}

/** Who can change the settings, where these refuse: an admin opens them by a button. */
export async function findHelp(
  who: Parameters<typeof createRefusal>[1],
): Promise<Pick<UserError, 'hint' | 'offer'>> {
  const refusal: Decision = { allowed: false, reason: 'not-approver', trace: [] };
  const { hint, offer } = await createRefusal(refusal, who);
  return { hint, offer: offer === 'why' ? 'ask' : offer };
}

export async function createRefusal(
  decision: Decision,
  who: Pick<Context, 'people' | 'policies' | 'person'>,
  reference?: string,
): Promise<UserError> {
  const helpers = { admins: await findAdmins(decision, who), reader: who.person.userId };
  const { message, hint, offer } = renderRefusal(decision, who.people.missingScopes(), helpers);
  return new UserError(message, hint, offer, reference);
}

const longestWaitMs = 6_000;
const pollEveryMs = 150;

export async function waitForOutcome(operation: Operation, { ledger, signal }: Context): Promise<Operation> {
  const until = performance.now() + longestWaitMs;
  let latest = operation;
  while (latest.state === 'approved' || latest.state === 'executing') {
    if (performance.now() > until || signal.aborted) break;
    await setTimeout(pollEveryMs);
    latest = (await findOperation(ledger, tenantId(operation.requester), operation.id)) ?? latest;
  }
  return latest;
}
