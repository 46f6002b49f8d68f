import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { advance } from '../../../src/commands/reports/alerts/write.ts';
import type { Observation } from '../../../src/commands/reports/checks/check.ts';
import { conditions, findCondition } from '../../../src/commands/reports/checks/list.ts';
import { renderTried } from '../../../src/views/reports/form.ts';
import {
  renderChange,
  renderIncident,
  renderResolved,
  renderWhy,
} from '../../../src/views/reports/incident.ts';
import type {
  Alert,
  AlertSubject,
  Evidence,
  Incident,
  IncidentFigures,
  Part,
} from '../../../src/views/reports/report.ts';
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
  threshold: maybe(fc.nat({ max: 1_000_000 })),
  window: maybe(fc.constantFrom(5, 60, 1440)),
  every: fc.constantFrom(5, 60, 1440),
  hours: maybe(fc.constant({ weekdays: [1, 3], from: '08:00', until: '18:00' })),
  timeZone: fc.constantFrom('UTC', 'America/Argentina/ComodRivadavia'),
  names: fc.subarray(['U0BOB0000', 'S0ONCALL0']),
  lifeSign: fc.boolean(),
});

const start = Date.parse('2026-11-20T10:00:00Z');

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

test('an incident of many parts says how many fire, and mentions groups also of an organisation', () => {
  const names = ['U0BOB0000', 'S0ONCALL0', 'T0CORPONE/S0ONCALL1'];
  const settings = {
    condition: findCondition('zone-state'),
    targets: [],
    every: 5,
    timeZone: 'UTC',
    lifeSign: false,
  } as const;
  const parts = Array.from({ length: 240 }, (_, nth) => ({
    id: `${nth}`,
    name: `zone${nth}`,
    text: 'disabled',
  }));
  const seen = { parts, evidence: [] };
  const now = new Date(start);
  const { figures } = advance({ recent: [] }, undefined, seen, {
    now,
    damping: { open: [1, 1], close: 2 },
  });
  const incident = { id: 'i', alertId: 'k7f3q', kind: 'firing', openedAt: now, figures } as Incident;
  const message = renderIncident(incident, toAlert({ ...settings, names }, seen, 1), { now });
  expect(message.text).toMatch(/240 zones: zone0, zone1, zone2 and 237 more$/u);
  const text = JSON.stringify(message.blocks);
  expect(text).toContain('and 236 more');
  expect(text).toContain('<@U0BOB0000> <!subteam^S0ONCALL0> <!subteam^S0ONCALL1>');
});
