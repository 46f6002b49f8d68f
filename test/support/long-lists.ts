import type { AuditRecord } from '../../src/auth/audit/audit.ts';
import { digestKinds, findCondition } from '../../src/commands/reports/checks/list.ts';
import { renderApiKeys } from '../../src/views/api-keys.ts';
import { renderAuditList } from '../../src/views/audit.ts';
import type { Message } from '../../src/views/blocks/blocks.ts';
import { type ExportSummary, renderExportList } from '../../src/views/exports/exports.ts';
import { renderNames } from '../../src/views/names.ts';
import { renderApprovalList } from '../../src/views/operations/approvals.ts';
import type { ShownOperation } from '../../src/views/operations/describe.ts';
import { describeAlert, describeDigest, type Listed, renderList } from '../../src/views/reports/card.ts';
import type { Alert, Digest, Incident } from '../../src/views/reports/report.ts';

const at = new Date('2026-11-22T10:00:00Z');
const hash = 'f'.repeat(64);
const alice = { userId: 'U0ALICE00', teamId: 'T0ACME000', enterpriseId: undefined };
const channel = 'C0OPS0000';

function range<Entry>(count: number, make: (nth: number) => Entry): Entry[] {
  return Array.from({ length: count }, (_, nth) => make(nth));
}

const nameZone = (nth: number): string => `checkout-${nth}-of-the-central-european-region-since-2019`;
const called = Object.fromEntries(range(4, (nth) => [String(nth), nameZone(nth)]));
const targets = Object.keys(called);

const makeReport = (nth: number) => ({
  id: `k222${String.fromCodePoint('b'.codePointAt(0) ?? 0, nth)}`,
  owner: alice,
  channel,
  nextDue: at,
  paused: nth % 5 === 4 ? { reason: 'channel-shared', by: undefined } : undefined,
});

function listAlert(nth: number): Listed {
  const hours = { weekdays: [1, 2, 3, 4, 5], from: '08:00', until: '18:00' };
  const settings = { condition: findCondition('errors'), targets, called, threshold: 50, window: 10 };
  const subject = { ...settings, every: 5, hours, timeZone: 'Europe/Vienna' };
  const state = { checkedAt: at, state: { recent: [] } };
  const report = { ...makeReport(nth), kind: 'alert', subject, ...state } as unknown as Alert;
  const incident = { kind: 'firing', openedAt: at, isUntold: nth === 1 } as Incident & { isUntold: boolean };
  return {
    report,
    state: describeAlert(report, nth < 3 ? [incident] : []),
    own: nth % 2 === 0,
    manages: true,
  };
}

function listDigest(nth: number): Listed {
  const chosen = { kinds: digestKinds.slice(0, 2), targets: { zones: targets, shieldZones: [], apps: [] } };
  const subject = { ...chosen, called, only: 'changed', timeZone: 'Europe/Vienna' };
  const schedule = { time: '09:00', zone: 'Europe/Vienna', weekdays: [1, 2, 3, 4, 5], monthDays: [] };
  const report = { ...makeReport(nth), kind: 'digest', subject, schedule } as unknown as Digest;
  return { report, state: describeDigest(report, { due: at, state: 'failed' }), own: true, manages: true };
}

const showOperation = (nth: number): ShownOperation => ({
  id: `request-${nth}`,
  state: nth % 3 === 0 ? 'unknown' : 'proposed',
  requester: alice,
  reason: 'Its node is gone',
  via: nth % 4 === 0 ? 'client my laptop' : undefined,
  words: {
    what: `delete volume \`data-of-${nameZone(nth)}\` of app *${nameZone(nth)}* (\`app0api0000000${nth}\`)`,
    consequences: { text: '' },
    outcome: undefined,
    again: undefined,
    isDestructive: true,
    labels: undefined,
  },
  keyFingerprint: '1f2e3d4c',
  approvalsNeeded: 2,
  approvals: [],
  createdAt: at,
  expiresAt: at,
  seal: hash,
  movedBy: 'U0BOB0000',
  movedAt: at,
  outcome: undefined,
});

const showExport = (nth: number) =>
  ({
    id: `export-${nth}`,
    userId: alice.userId,
    channel,
    request: { shieldZoneId: '501', from: at, to: new Date('2026-11-23T11:00:00Z') },
    state: nth < 6 ? 'running' : 'done',
    canCancel: nth < 6,
    rows: 123_456,
    filesDeletedAt: nth > 8 ? at : undefined,
  }) as ExportSummary;

const record = (nth: number): AuditRecord => ({
  seq: nth + 1,
  at,
  tenant: 'T0ACME000',
  requestId: 'reference-1',
  actor: alice.userId,
  hash,
  prevHash: hash,
  ...(nth % 2 === 0
    ? { event: 'denied', subject: 'volume', detail: { reason: 'not-operator', channel } }
    : {
        event: 'operation-proposed',
        subject: hash,
        detail: { kind: 'volume-delete', volume: nameZone(nth) },
      }),
});

const roles = ['User', 'UserApi', 'Billing administrator of everything', 'Support', 'Stream', 'Storage'];

/** Every list of the bot with many entries of long names. */
export function renderLongLists(): Readonly<Record<string, Message>> {
  const requested = range(12, showOperation);
  const records = range(50, record);
  const state = { head: records.at(-1), verdict: { ok: true, records: 50, head: hash }, since: 1 } as const;
  const view = { who: undefined, kind: undefined, most: 50 };
  return {
    digests: renderList('digest', range(12, listDigest), { asOf: at }),
    alerts: renderList('alert', range(12, listAlert), { asOf: at }),
    'requests that wait': renderApprovalList({ waiting: requested, requested, isApprover: true }, at),
    'own requests': renderApprovalList({ waiting: [], requested, isApprover: false }, at),
    exports: renderExportList(range(12, showExport), at),
    keys: renderApiKeys(
      range(12, (nth) => ({ id: String(123_456 + nth), tail: 'abcd', roles, isOwn: nth === 3 })),
      0,
      at,
    ),
    audit: renderAuditList({ view, records, kinds: ['denied'], state, takenAt: at }),
    names: renderNames(
      range(40, (nth) => ({ kind: 'app', id: `app0api00000${nth}`, name: nameZone(nth), by: alice.userId })),
    ),
  };
}
