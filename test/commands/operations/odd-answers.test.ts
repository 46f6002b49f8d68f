import { expect, test } from 'vitest';
import type { Fault } from '../../../simulator/cdn/faults.ts';
import { findOperation } from '../../../src/commands/operations/model.ts';
import { propose } from '../../../src/commands/operations/propose.ts';
import { Secret } from '../../../src/secrets/secret.ts';
import { prepareEngines } from '../../support/engines.ts';
import { requester, startJobs } from './job-harness.ts';
import { type TestRequest, toRequested } from './ledger-harness.ts';
import { says } from './words.ts';
import { alice } from './workspace.ts';

const { embedded } = await prepareEngines();

const volume: TestRequest = { kind: 'volume-delete', appId: 'app0api00000001', volumeId: 'data' };
const variable: TestRequest = { kind: 'variable-update', scriptId: '301', variableId: '12' };
const requests = { volume, variable: { ...variable, value: new Secret('on') } };

/** How requests end that the CDN answers so: the state, the word of the outcome, what the requester reads, how often each was sent. */
async function answerEach(rows: readonly Row[]) {
  const none = { changeApprovals: 0, destroyApprovals: 0 };
  const harness = await startJobs(await embedded.emptyDatabase(), none);
  const { cdn, ledger, policy, slack, runJobs } = harness;
  const snapshot = { zonesTotal: 0, zones: [], summary: 'read' };
  const found: Record<string, object> = {};
  for (const [subject, answer, fault] of rows) {
    cdn.faults.clear();
    cdn.faults.add({ match: { path: /volumes|variables/u }, times: Infinity, ...fault });
    const before = cdn.requests.length;
    const asked = { ...toRequested(requests[subject]), channelId: undefined, reason: 'Old', approvers: [] };
    const { tenant, id } = await propose(ledger, { ...asked, requester, snapshot, policy });
    await runJobs();
    const { state, outcome } = (await findOperation(ledger, tenant, id)) ?? {};
    const reads = slack.as(alice).messages().at(-1)?.reads;
    const sent = cdn.requests.slice(before).filter(({ path }) => /volumes|variables/u.test(path)).length;
    found[answer] = { ends: `${state} ${outcome?.word}`, reads, sent };
  }
  return found;
}

const unconfirmed = 'unknown unconfirmed';
const unanswered = 'unknown unanswered';
const accepted = 'succeeded unconfirmed';
const refused = 'failed refused';
const elsewhere = { location: '/elsewhere' };

type Row = [keyof typeof requests, answer: string, fault: Fault, ends: string, says: string];

const rows: readonly Row[] = [
  ['volume', 'an object without ids', { body: {} }, unconfirmed, says.checkIt],
  ['volume', 'null', { body: 'null' }, unconfirmed, says.checkIt],
  ['volume', 'no body', { status: 204, body: '' }, unconfirmed, says.checkIt],
  ['volume', 'ids that are no list', { body: { ids: { 0: 'i-1' } } }, unconfirmed, says.checkIt],
  ['volume', '202 with ids', { status: 202, body: { ids: ['i-1'] } }, unconfirmed, says.checkIt],
  ['volume', '207 with ids', { status: 207, body: { ids: ['i-1'] } }, unconfirmed, says.checkIt],
  ...[{ total: 3 }, { count: 0 }, { totalItems: '3' }, { page: { expected_count: 2 } }, { deleted: 2 }].map(
    (counts): Row => {
      const fault = { body: { ids: ['i-1'], ...counts } };
      return ['volume', `an id and ${JSON.stringify(counts)}`, fault, unconfirmed, says.checkIt];
    },
  ),
  ['volume', 'an empty id', { body: { ids: [''] } }, unconfirmed, says.checkIt],
  ['volume', 'an empty list', { body: [] }, unanswered, says.checkIt],
  ['volume', 'a list of ids', { body: ['i-1'] }, unanswered, says.checkIt],
  ['volume', 'a word', { body: '"deleted"' }, unanswered, says.checkIt],
  ['volume', 'a sentence with a success', { body: { message: 'Started' } }, unanswered, says.checkIt],
  ['volume', 'ids and a refusal', { body: { ids: ['i-1'], errorKey: 'locked' } }, unanswered, says.checkIt],
  ...[
    { status: 'failed' },
    { status: 500 },
    { error: 'locked' },
    { error: { code: 5 } },
    { success: false },
    { Success: 'false' },
    { message: 'i-2 is still attached' },
    { message: 'The volume was not deleted' },
    { message: 'Variable UPDATE_FAILED' },
    { error: 'Instances deleted' },
    { detail: 'i-2 is still attached' },
    { errors: [{ message: 'i-2 is still attached' }] },
    { failedIds: ['i-2'] },
    { results: [{ id: 'i-2', state: 'attached' }] },
    { hasMore: true },
    { partial: true },
    { remaining: 2 },
    { notDeleted: 2 },
    { statusCode: 409 },
    { code: 409 },
    { status: 'inactive' },
    { notDeleted: true, notUpdated: 1 },
    { updated: false, attached: ['i-2'] },
    { Deleted: true, state: 'active' },
    { state: 'deleted', status: 'saved' },
    { deletedAt: '2026-11-26T22:00:00Z', stillAttached: 1 },
    { dryRun: true },
    { rejected: ['i-2'] },
    { exception: 'NullReference' },
    { note: 'This was not saved, and i-2 is still attached' },
    { note: 'The variable was deleted, and 2 instances are left' },
    { message: 'Queued for the next release' },
    { inProgress: true },
    { msg: 'Volume is busy' },
    { errno: 5 },
    { persisted: false },
    { previewOnly: true },
  ].flatMap((words): Row[] => {
    const shown = JSON.stringify(words);
    const variableBody = { Id: 12, Name: 'FEATURE_X', Required: false, DefaultValue: 'on', ...words };
    return [
      ['volume', `ids and ${shown}`, { body: { ids: ['i-1'], ...words } }, unanswered, says.theCdnSays],
      ['variable', `itself and ${shown}`, { body: variableBody }, unanswered, says.theCdnSays],
    ];
  }),
  ...[
    { status: 'deleted', success: true, errors: [], message: null, nextCursor: '' },
    { deleted: 1, deletedAt: '2026-11-26T22:00:00Z', status: 200 },
    { message: 'All instances were deleted successfully.', errorCode: '0', hasMore: 'false' },
    { total: 1, page: { count: '1' }, totalMs: 12, failedCount: 0 },
    { traceId: 'a', hasMore: false, error: { statusCode: 0, success: false, message: null } },
    { volumeId: 'data', deletedAt: '2026-11-26T22:00:00Z', region: 'DE', freedBytes: 5, inUse: false },
  ].map((words): Row => {
    const fault = { body: { ids: ['i-1'], ...words } };
    return ['volume', `ids and ${JSON.stringify(words)}`, fault, 'succeeded done', 'i-1'];
  }),
  ...[
    { status: 1, Success: 1, message: 'Variable FEATURE_X updated' },
    { success: true, state: 'ok', Message: 'The variable has been updated.', IsDefault: false },
    { Deleted: false, IsDeleted: 'false', removedBy: null, deletedAt: null, state: 'active', warnings: [] },
    { message: 'Shown on the front page', Description: 'Toggles checkout', hasErrors: false, failed: {} },
    { updated: true, Modified: '2026-11-26T22:00:00Z', rowsAffected: 1, code: 200, pending: false },
  ].map((words): Row => {
    const body = { Id: 12, Name: 'FEATURE_X', Required: false, DefaultValue: 'on', ...words };
    return ['variable', `itself and ${JSON.stringify(words)}`, { body }, 'succeeded done', 'FEATURE_X'];
  }),
  [
    'volume',
    'ids and a text of it',
    { body: { ids: ['i-1'], message: 'Data of shop' } },
    unanswered,
    says.theCdnSays,
  ],
  ...[{ inUse: true }, { kept: ['i-2'] }, { phase: 'Terminating' }, { willBeDeletedAt: '2026-12-01' }].map(
    (words): Row => {
      const fault = { body: { ids: ['i-1'], ...words } };
      return ['volume', `ids and ${JSON.stringify(words)}`, fault, unanswered, says.theCdnSays];
    },
  ),
  ['volume', 'ids and none deleted', { body: { ids: ['i-1'], deleted: 0 } }, unanswered, says.theCdnSays],
  ['volume', 'a success alone', { body: { success: true } }, unconfirmed, says.checkIt],
  ['volume', 'an id of words', { body: { ids: ['i-1 failed'] } }, unanswered, says.theCdnSays],
  ['volume', 'a web page', { body: 'html' }, unanswered, says.checkIt],
  ['volume', 'a redirect', { status: 302, body: '', headers: elsewhere }, unanswered, says.checkIt],
  ['volume', 'a time limit of a proxy', { status: 408, body: '' }, unanswered, says.checkIt],
  ['volume', 'half a body', { body: '{"ids":["i-1"' }, unanswered, says.checkIt],
  [
    'volume',
    'gzip that does not open',
    { body: { ids: ['i-1'] }, headers: { 'content-encoding': 'gzip' } },
    unanswered,
    says.checkIt,
  ],
  [
    'volume',
    'too few bytes',
    { body: { ids: ['i-1'] }, headers: { 'content-length': '1' } },
    unanswered,
    says.checkIt,
  ],
  ['volume', 'a body without end', { body: 'x'.repeat(2_000_000) }, unanswered, says.checkIt],
  ['volume', 'a conflict', { status: 409, body: { title: 'In use' } }, refused, says.nothingChanged],
  ['variable', 'no body', { status: 204, body: '' }, accepted, says.checkInPanel],
  ['variable', 'an empty object', { body: {} }, accepted, says.checkInPanel],
  ['variable', '202', { status: 202, body: { Id: 12, DefaultValue: 'off' } }, accepted, says.checkInPanel],
  ['variable', 'an id of another type', { body: { Id: {}, Name: 'A' } }, accepted, says.checkInPanel],
  ['variable', 'a value of another type', { body: { Id: 12, DefaultValue: 5 } }, accepted, says.checkInPanel],
  ['variable', 'a variable in a list', { body: [{ Id: 12, Name: 'A' }] }, unanswered, says.checkIt],
  ...[{ Message: 'Saved' }, { success: true, message: 'Variable updated' }].map((body): Row => {
    return ['variable', JSON.stringify(body), { body }, accepted, says.checkInPanel];
  }),
  ['variable', 'another sentence', { body: { Message: 'See the panel' } }, unanswered, says.checkIt],
  [
    'variable',
    '207',
    { status: 207, body: { Id: 12, Name: 'A', DefaultValue: 'on' } },
    accepted,
    says.checkInPanel,
  ],
  ['variable', 'a redirect', { status: 307, body: '', headers: elsewhere }, unanswered, says.checkIt],
  ['variable', 'a conflict', { status: 409, body: { Message: 'Locked' } }, refused, says.nothingChanged],
];

test.each(['volume', 'variable'] as const)(
  'a change of a %s is told as no more than the CDN’s answer says, and sent once',
  async (subject) => {
    const own = rows.filter(([of]) => of === subject);
    const expected = own.map(([, answer, , ends, says]) => {
      return [answer, { ends, reads: expect.stringContaining(says), sent: 1 }];
    });
    expect(await answerEach(own)).toEqual(Object.fromEntries(expected));
  },
);
