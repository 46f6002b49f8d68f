import { expect, test } from 'vitest';
import type { VisibleView } from '../../../simulator/slack/views.ts';
import type { Bot } from '../../support/bot.ts';
import { channels, exportAgain, openForm, submitForm, users } from './bot.ts';
import { useExportHarness } from './harness.ts';
import { readExport, readProblem, says } from './words.ts';

const { alice } = users;
const { ops } = channels;
const { bot, exportRequests, exportTo, expectNothingLeft, waitForPost } = await useExportHarness();

type Person = ReturnType<Bot['slack']['as']>;

async function alicesForm(words?: string): Promise<Person> {
  const person = bot.slack.as(alice, ops);
  await openForm(person, words);
  return person;
}

const holds = (block: string) => (view: VisibleView) => block in view.state.values;
const readTyped = ({ state }: VisibleView, block: string): unknown => state.values[block]?.[block]?.['value'];

test('a window is one press away, and nothing that was typed is lost', async () => {
  const person = await alicesForm();
  const seen = person.modal()?.hash;
  person.type({ query: 'login', filters: 'action in blocked', channel: ops });
  await person.press('event-logs:window:72h');
  const widened = await person.waitForModal(holds('from:1'));
  // Slack refuses it where the form was drawn again meanwhile.
  const drawn = bot.slack.calls.findLast(({ method }) => method === 'views.update');
  expect(drawn?.args['hash']).toBe(seen);
  const from = Number(widened.state.values['from:1']?.['from']?.['selected_date_time']);
  expect(Date.now() / 1000 - from).toBeGreaterThan(71 * 3600);
  expect(readTyped(widened, 'query')).toBe('login');
  expect(readTyped(widened, 'filters')).toBe('action in blocked');
  expect(widened.state.values['channel']?.['channel']).toMatchObject({ selected_conversation: ops });
});

test('a window that is typed and too old begins later', async () => {
  const person = await alicesForm('export #501 2026-01-20 12:00..10:00');
  expect(person.modal()?.state.values['shieldZoneId']?.['shieldZoneId']).toMatchObject({
    selected_option: { value: '501' },
  });
  expect(readProblem(person.modal())).toMatchSnapshot('typed, and too old');
});

const twoDaysAgo = new Date(Date.now() - 2 * 86_400_000).toLocaleDateString('en-GB', {
  day: 'numeric',
  month: 'short',
  timeZone: 'Europe/Berlin',
});

test.each([
  ['export 501 last hour in #ops', '501', 1],
  ['export last hour in #ops 501', '501', 1],
  ['export in #ops 501 last hour', '501', 1],
  ['export last hour 501 in #ops', '501', 1],
  ['export #501 for 3h to <#C0OPS0000|ops>', '501', 3],
  ['events last 6h 501 here', '501', 6],
  ['export ５０１ – yesterday 10:00 for 2h in #ops', '501', 2],
  ['export 501 yesterday 10-11am UTC in #ops', '501', 1],
  [`export 501 ${twoDaysAgo} in #ops`, '501', 24],
  ['export in #ops', '', 24],
])('%s fills in zone, window and channel', async (words, zone, hours) => {
  const person = await alicesForm(words);
  const { values } = person.modal()?.state ?? { values: {} };
  const seconds = (name: string) => Number(values[name]?.[name]?.['selected_date_time']);
  expect((seconds('to') - seconds('from')) / 3600).toBe(hours);
  expect(values['channel']?.['channel']).toMatchObject({ selected_conversation: ops });
  const chosen = values['shieldZoneId']?.['shieldZoneId']?.['selected_option'] as { value?: string } | null;
  expect(chosen?.value ?? '').toBe(zone);
});

test.each([
  'export nosuch zone last 6h',
  'export 501 lst 6h',
  'export 501 last 6h in #nosuch',
  'export 501 last 6h in <#C0NOSUCH0>',
  'export 501 2020-01-01',
  'export 501 yesterday 12:00..10:00',
  'export 501 9-5',
  'export 501 yesterday noon',
  'export 501 24h yesterday',
])('what cannot be read of %s is told above the form', async (words) => {
  const person = await alicesForm(words);
  expect(readProblem(person.modal())).toMatchSnapshot();
});

test('filters are lines; a line that cannot be read is told below them, and nothing is asked', async () => {
  const person = await alicesForm();
  expect((await person.submit({ filters: 'planet in earth' })).errors).toMatchSnapshot('an unknown field');
  expect((await person.submit({ filters: 'url' })).errors).toMatchSnapshot('without a value');
  expect(exportRequests()).toEqual([]);
  await submitForm(person, { filters: 'Country is de, fr\n\nurl: /login\nasn eq AS64500', query: 'kept' });
  await waitForPost(`D${alice}`, says.done);
  expect(exportRequests()[0]?.body).toMatchObject({
    query: 'kept',
    filters: [
      { field: 'country', op: 'in', value: ['DE', 'FR'] },
      { field: 'url', op: 'contains', value: ['/login'] },
      { field: 'asn', op: 'eq', value: ['AS64500'] },
    ],
  });
});

test('what the plan lacks is said in a sentence, and once it is there the same form is sent again', async () => {
  const refusal = { statusCode: 403, success: false, message: '', errorKey: 'invalid_plan_type.event_logs' };
  const body = { logs: null, errorResponse: refusal };
  bot.cdn.faults.add({ match: { path: /export$/ }, status: 403, body });
  await exportTo(ops);
  const told = await waitForPost(ops, says.failed);
  expect(readExport(told)).toMatchSnapshot();
  await exportAgain(bot.slack.as(alice, ops), told);
  await waitForPost(ops, says.posted());
});

test('what was refused comes back in the form, to be changed', async () => {
  const person = await alicesForm();
  bot.cdn.faults.add({ match: { path: /export$/ }, status: 400, body: { message: 'No such filter.' } });
  const filters = 'action in log\nasn in AS64500, "a, b"';
  await submitForm(person, { filters, query: 'login', pseudonyms: ['yes'], channel: ops });
  const { ts } = await waitForPost(ops, says.failed);
  await person.press('event-logs:change:0', { ts });
  const form = await person.waitForModal('event-logs:submit');
  expect([readTyped(form, 'query'), readTyped(form, 'filters')]).toEqual(['login', filters]);
  expect(form.state.values['channel']?.['channel']).toMatchObject({ selected_conversation: ops });
  expect(form.state.values['pseudonyms']?.['pseudonyms']).toMatchObject({
    selected_options: [{ value: 'yes' }],
  });
  await submitForm(person, { query: '', filters: 'action in log' });
  await waitForPost(ops, says.done);
  const [refused, changed] = exportRequests().map(({ body }) => body as { from: number; filters: object[] });
  expect(changed?.filters).toEqual(refused?.filters.slice(0, 1));
  expect(changed?.from).toBe(refused?.from);
});

test.each([413, 403])('an upload that Slack refuses for good (HTTP %i) is told at once', async (status) => {
  bot.slack.script.fail('files.upload', 'refused', 1, status);
  await exportTo(ops);
  const told = await waitForPost(ops, says.failed);
  expect(readExport(told)).toMatchSnapshot();
  expect(exportRequests()).toHaveLength(1);
  await expectNothingLeft();
});

test('a shield zone is offered by its name and typed by it, and one that was exported is offered again', async () => {
  const person = bot.slack.as(alice, ops);
  await person.slash('name shield 501 checkout-shield');
  await person.waitForMessage(/checkout-shield/);
  await openForm(person, 'export checkout-shield last 6h');
  expect(person.modal()?.state.values['shieldZoneId']?.['shieldZoneId']).toMatchObject({
    selected_option: { value: '501' },
  });
  const offered = await person.suggest('shieldZoneId', 'checkout');
  expect(offered.map(({ value }) => value)).toContain('501');
});
