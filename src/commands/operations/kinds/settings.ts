import { z } from 'zod';
import { tenantId } from '../../../auth/identity.ts';
import {
  type AffectedPerson,
  assistantModes,
  countRequiredApprovals,
  decide,
  describeChange,
  diffPolicies,
  findGains,
  initialPolicy,
  type Policy,
  policyBody,
  readAssistant,
} from '../../../auth/policy/policy.ts';
import { canonicalJson, type Json } from '../../../lib/canonical-json.ts';
import { dayMs } from '../../../lib/time.ts';
import { describeSettingsChange } from '../../../views/settings/settings.ts';
import type { Kind } from './kind.ts';

export type SettingsRequest = z.output<typeof policyBody>;

const classes = ['destroy', 'change'] as const;

const lowering = z.object({
  fewer: z.array(z.enum(classes)),
  gains: z.array(z.enum(['export', 'change', 'destroy', 'approve'])),
  off: z.boolean(),
  assistant: z.boolean().optional(),
});

export type Lowering = z.output<typeof lowering>;

const facts = z.object({ before: policyBody, lowers: lowering, author: z.string() });

/** A change of the bot's own settings that another admin confirms. */
export const settingsChange: Kind<SettingsRequest> = {
  name: 'settings-change',
  right: 'admin',
  keyless: true,
  approval: {
    decide: (_, actor) => decide(initialPolicy, actor, undefined, 'admin'),
    count: () => 1,
    expiresAfterMs: dayMs,
    labels: {
      approve: { label: 'Confirm', actionId: 'settings:confirm' },
      deny: { label: 'Reject', actionId: 'settings:reject' },
    },
  },

  parse: ({ body }) => policyBody.parse(JSON.parse(body ?? '')),
  request: (body) => ({ method: 'PUT', path: '/settings', body: canonicalJson(policyBody.parse(body)) }),

  consequences(snapshot, request) {
    const { before, lowers, author } = facts.parse(snapshot);
    return {
      text: describeSettingsChange(diffPolicies(withVersion(before), withVersion(request)), lowers, author),
    };
  },

  describe: () => 'change the settings of the CDN bot',
  describeOutcome({ word, facts: told }) {
    if (word === 'done') return `Saved (version ${told?.['version']}).`;
    return word === 'overtaken' ? 'Nothing was saved: the settings changed meanwhile.' : undefined;
  },
  check: {
    done: 'The settings are the new ones',
    notDone: 'The settings are as they were',
    look: '`/cdn settings` shows the settings as they are now.',
  },

  audit(request, { snapshot }) {
    const before = facts.safeParse(snapshot).data?.before;
    const changes = before ? diffPolicies(withVersion(before), withVersion(request)).map(describeChange) : [];
    return Object.fromEntries(changes.map((change, index) => [`change${index + 1}`, change]));
  },

  async send({ body, requester, approvedBy, policyVersion, policies }) {
    const tenant = tenantId(requester);
    const policy = { ...policyBody.parse(JSON.parse(body ?? '')), version: policyVersion };
    const before = (await policies.version(tenant, policyVersion))?.policy ?? initialPolicy;
    const saved = await policies.save({
      tenant,
      base: policyVersion,
      policy,
      by: requester.userId,
      difference: diffPolicies(before, policy).map(describeChange),
      confirmedBy: approvedBy[0],
    });
    return saved.saved
      ? { state: 'succeeded', outcome: { word: 'done', facts: { version: saved.policy.version } } }
      : { state: 'failed', outcome: { word: 'overtaken' } };
  },
};

export function writeFacts(before: Policy, lowers: Lowering, author: string): Json {
  return JSON.parse(JSON.stringify({ before: policyBody.parse(before), lowers, author })) as Json;
}

function withVersion(body: z.output<typeof policyBody>): Policy {
  return { ...body, version: 0 };
}

/** Undefined: one admin decides. */
export function findLowering(before: Policy, after: Policy, author: AffectedPerson): Lowering | undefined {
  if (!before.secondAdmin) return undefined;
  const fewer = classes.filter(
    (needs) => countRequiredApprovals(after, needs) < countRequiredApprovals(before, needs),
  );
  const gains = findGains(before, after, author).filter((power) => power !== 'read');
  const off = !after.secondAdmin;
  const [was, is] = [before, after].map((policy) => assistantModes.indexOf(readAssistant(policy)));
  const assistant = (is ?? 0) > (was ?? 0);
  if (!off && !assistant && fewer.length + gains.length === 0) return undefined;
  return { fewer, gains, off, ...(assistant ? { assistant } : {}) };
}
