import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { advance } from '../../../src/commands/reports/alerts/write.ts';
import type { Observation } from '../../../src/commands/reports/checks/check.ts';
import { type ConditionName, conditions, findCondition } from '../../../src/commands/reports/checks/list.ts';
import { describeAlert } from '../../../src/views/reports/card.ts';
import { renderTried } from '../../../src/views/reports/form.ts';
import {
  renderChange,
  renderIncident,
  renderResolved,
  renderWhy,
} from '../../../src/views/reports/incident.ts';
import {
  type Alert,
  type AlertSubject,
  describeUnknown,
  type Evidence,
  type Incident,
  type IncidentFigures,
  type Part,
} from '../../../src/views/reports/report.ts';
import { readText } from '../../support/command-harness.ts';
import { findViewProblems } from '../../support/slack-limits.ts';
import { findProblems, list, maybe, text } from '../any.ts';

const id = fc.oneof(fc.nat().map(String), fc.constantFrom('1001/a.example', 'origin.example.com'));
const amount = fc.oneof(fc.nat(), fc.double({ min: 0, max: 1e12, noNaN: true }));
const part: fc.Arbitrary<Part> = fc.record({ id, name: text, text, value: maybe(amount) });
const row: fc.Arbitrary<Evidence> = fc.record({
  name: text,
  is: text,
  wrongIf: maybe(text),
  isWrong: fc.boolean(),
});
const observation: fc.Arbitrary<Observation<unknown>> = fc.record({
  parts: list(part, 60),
  value: maybe(amount),
  count: maybe(fc.nat()),
  evidence: list(row, 30),
  unread: list(id, 5),
});
const subject: fc.Arbitrary<AlertSubject> = fc.record({
  condition: fc.constantFrom(...conditions),
  targets: list(id, 20),
  called: maybe(fc.dictionary(id, text)),
  threshold: fc.nat({ max: 1_000_000 }),
  window: fc.constantFrom(0, 5, 60, 1440),
  every: fc.constantFrom(5, 60, 1440),
  hours: maybe(fc.constant({ weekdays: [1, 3], from: '08:00', until: '18:00' })),
  timeZone: fc.constantFrom('UTC', 'America/Argentina/ComodRivadavia'),
  names: fc.subarray(['U0BOB0000', 'S0ONCALL0']),
  lifeSign: fc.boolean(),
});

const start = Date.parse('2026-11-20T10:00:00Z');
const unset = { targets: [], threshold: 0, window: 0, every: 5, timeZone: 'UTC', names: [], lifeSign: false };

function toAlert(subject: AlertSubject, seen: Observation<unknown>, checks: number): Alert {
  const owner = { teamId: 'T0ACME000', userId: 'U0ALICE00' };
  const row = { id: 'k7f3q', tenant: 'T0ACME000', owner, channel: 'C0OPS0000', subject };
  const state = { recent: [true], evidence: seen.evidence };
  const checkedAt = checks === 0 ? undefined : new Date(start);
  return { kind: 'alert', ...row, checkedAt, state } as unknown as Alert;
}

test('whatever looks find becomes messages that Slack takes', () => {
  fc.assert(
    fc.property(subject, fc.array(observation, { minLength: 1, maxLength: 6 }), (subject, looks) => {
      const { isEvent } = subject.condition;
      const damping = { open: [1, 1], close: 2 } as const;
      let open: IncidentFigures | undefined;
      for (const [nth, seen] of looks.entries()) {
        const at = new Date(start + nth * 300_000);
        const step = advance({ recent: [] }, open, seen, { now: at, damping, isEvent });
        open = step.figures ?? open;
        if (!open) continue;
        const alert = toAlert(subject, seen, nth);
        const closedAt = step.move === 'close' ? at : undefined;
        const incident = { id: 'i', alertId: alert.id, kind: 'firing', openedAt: new Date(start) } as const;
        const wrong = { ...incident, closedAt, figures: open, message: undefined } as Incident;
        const blind = {
          ...wrong,
          kind: 'unreadable',
          figures: { ...open, failure: { message: 'No answer.' } },
        } as const;
        const left = step.left.map(({ name }) => name);
        const change = { joined: step.joined, left, remaining: open.parts.length };
        const messages = [
          renderIncident(wrong, alert, { now: at, unreadableSince: at }),
          renderIncident(blind, alert, { now: at }),
          renderChange(change, at.toISOString(), alert),
          renderResolved(wrong, alert),
          renderWhy(alert, [wrong, blind], at),
        ];
        // A change without parts is not told.
        const told = step.joined.length + step.left.length > 0 ? messages : messages.toSpliced(2, 1);
        expect(told.flatMap(findProblems)).toEqual([]);
        expect(findViewProblems(renderTried(seen, subject))).toEqual([]);
        // It is stored with its alert.
        expect(JSON.stringify(open).length).toBeLessThan(200_000);
      }
    }),
    { numRuns: 150 },
  );
});

/** An incident of what the first check found. */
function openIncident(
  condition: ConditionName,
  seen: Omit<Observation<unknown>, 'unread'>,
  names: string[] = [],
) {
  const settings = { ...unset, condition: findCondition(condition), names };
  const now = new Date(start);
  const damping = { open: [1, 1], close: 2 } as const;
  const { figures } = advance({ recent: [] }, undefined, seen, { now, damping });
  const incident = { id: 'i', alertId: 'k7f3q', kind: 'firing', openedAt: now, figures } as Incident;
  return { incident, alert: toAlert(settings, seen, 1), now };
}

test('an incident of many parts says how many fire, and mentions groups also of an organization', () => {
  const names = ['U0BOB0000', 'S0ONCALL0', 'T0CORPONE/S0ONCALL1'];
  const parts = Array.from({ length: 240 }, (_, nth) => ({
    id: `${nth}`,
    name: `zone${nth}`,
    text: 'disabled',
  }));
  const { incident, alert, now } = openIncident('zone-state', { parts, evidence: [] }, names);
  const message = renderIncident(incident, alert, { now });
  expect(message.text).toMatch(/240 zones: zone0, zone1, zone2 and 237 more$/u);
  const text = JSON.stringify(message.blocks);
  expect(text).toContain('and 236 more');
  expect(text).toContain('<@U0BOB0000> <!subteam^S0ONCALL0> <!subteam^S0ONCALL1>');
});

test('more parts than are stored are counted the same in every sentence of an incident', () => {
  const parts = Array.from({ length: 240 }, (_, nth) => ({ id: `1/h${nth}`, name: `h${nth}`, text: 'none' }));
  const { incident, alert, now } = openIncident('certificate-missing', { parts, value: 240, evidence: [] });
  const closed = { ...incident, closedAt: now };
  const told = [incident, closed].map((one) => renderIncident(one, alert, { now }).text);
  expect([...told, renderResolved(closed, alert).text]).toMatchSnapshot();
});

const judged: Evidence = { name: 'shop', is: '3 errors', wrongIf: 'more than 50', isWrong: false };
const unread: Evidence = {
  name: '215 of 240 zones',
  is: 'not checked: an alert covers 25 zones',
  isWrong: false,
  isUnknown: true,
};
const learning: Evidence = { name: 'docs', is: 'not reported', isWrong: false, isUnknown: true };

test.each<[string, 'errors' | 'settings', Evidence[], number, string, string]>([
  ['all was judged', 'errors', [judged], 3, '*OK*: 1 value checked.', 'OK'],
  [
    'a part was not checked',
    'errors',
    [judged, unread],
    3,
    '*OK as far as checked*: 1 value checked, 215 of 240 zones not checked.',
    'OK as far as checked: 215 of 240 zones not checked',
  ],
  [
    'one is not reported',
    'errors',
    [judged, learning, unread],
    3,
    '*OK as far as checked*: 1 value checked, docs not reported and 1 more.',
    'OK as far as checked: docs not reported and 1 more',
  ],
  [
    'nothing could be judged',
    'errors',
    [learning],
    3,
    ':grey_question: Not known yet: docs not reported.',
    'Not known yet: docs not reported',
  ],
  ['nothing was there', 'errors', [], 3, ':grey_question: Not known yet: nothing could be judged.', 'OK'],
  [
    'one has no end',
    'errors',
    [judged, { ...learning, is: 'its end date is unreadable' }],
    3,
    'checked, docs (its end date is unreadable).',
    'docs (its end date is unreadable)',
  ],
  ['the first check of changes', 'settings', [], 1, '*Baseline taken*', 'OK'],
  [
    'changes of a part',
    'settings',
    [unread],
    3,
    '*Nothing happened as far as checked* since the last check: 215',
    'OK as far as',
  ],
  ['no changes', 'settings', [], 3, '*Nothing happened* since the last check.', 'OK'],
])('without an incident, %s: why and the list say it', (_, name, evidence, checks, why, listed) => {
  const condition = findCondition(name);
  const settings = { ...unset, condition };
  const alert = toAlert(settings, { parts: [], evidence }, 1);
  const state = { evidence, recent: Array<boolean>(checks).fill(false) };
  expect(renderWhy({ ...alert, state }, [], new Date(start)).text).toContain(why.replaceAll('*', ''));
  expect(describeAlert({ ...alert, state }, []).text).toContain(listed);
});

test('an incident says what is not known beside it', () => {
  const parts = [{ id: '1', name: 'shop', text: '60 errors' }];
  const { incident, alert, now } = openIncident('errors', { parts, evidence: [unread] });
  expect(JSON.stringify(renderIncident(incident, alert, { now }))).toContain(describeUnknown([unread]));
});

test.each([
  [undefined, ':white_check_mark:'],
  [true, ':grey_question:'],
] as const)(
  'what would not fire now is fine only if all of it could be judged (unknown: %s)',
  (isUnknown, sign) => {
    const subject = { ...unset, condition: findCondition('errors') };
    const evidence = [{ name: 'shop', is: 'not checked', wrongIf: 'above 50', isWrong: false, isUnknown }];
    const text = readText(renderTried({ parts: [], evidence }, subject));
    expect([':white_check_mark:', ':grey_question:'].filter((one) => text.includes(one))).toEqual([sign]);
  },
);
