import { beforeAll, expect, test } from 'vitest';
import type { VisibleView } from '../../../simulator/slack/views.ts';
import { textOf } from '../../../simulator/slack/world.ts';
import { correctWindowButton } from '../../../src/views/exports/form.ts';
import type { Bot } from '../../support/bot.ts';
import { channels, openFilteredForm, openForm, submitForm, users } from './bot.ts';
import { useExportHarness } from './harness.ts';
import { readExport, readProblem, says } from './words.ts';

const { alice } = users;
const { ops } = channels;
const harness = useExportHarness();
const { exportRequests, exportTo, expectNothingLeft, waitForPost } = harness;
let bot: Bot;
beforeAll(() => {
  bot = harness.bot();
});

type Person = ReturnType<Bot['slack']['as']>;

async function alicesForm(words?: string): Promise<Person> {
  const person = bot.slack.as(alice, ops);
  await openForm(person, words);
  return person;
}

async function alicesFilteredForm(): Promise<Person> {
  const person = bot.slack.as(alice, ops);
  await openFilteredForm(person);
  return person;
}

const holds = (block: string) => (view: VisibleView) => block in view.state.values;
/** What stands below an input. */
const readHint = ({ blocks }: VisibleView, block: string): string =>
  textOf((blocks.find(({ block_id: id }) => id === block)?.['hint'] as { text?: string } | undefined)?.text);
const warnsAt = (block: string) => (view: VisibleView) => readHint(view, block).startsWith(':warning:');
const readTyped = ({ state }: VisibleView, block: string): unknown => state.values[block]?.[block]?.['value'];

test('a window is one press away, and nothing that was typed is lost', async () => {
  const person = await alicesFilteredForm();
  person.type({ query: 'login', filters: 'action in blocked', channel: ops });
  await person.press('event-logs:window:72h');
  const widened = await person.waitForModal(holds('from:1'));
  const from = Number(widened.state.values['from:1']?.['from']?.['selected_date_time']);
  expect(Date.now() / 1000 - from).toBeGreaterThan(71 * 3600);
  expect(readTyped(widened, 'query')).toBe('login');
  expect(readTyped(widened, 'filters')).toBe('action in blocked');
  expect(widened.state.values['channel']?.['channel']).toMatchObject({ selected_conversation: ops });
});

test('a window the wrong way round is turned by one press, and one that grew too old begins later', async () => {
  const person = await alicesForm('export #501 2026-01-20 12:00..10:00');
  expect(person.modal()?.state.values['shieldZoneId']?.['shieldZoneId']).toMatchObject({
    selected_option: { value: '501' },
  });
  expect(readProblem(person.modal())).toMatchSnapshot('typed, and too old');
  const now = Math.floor(Date.now() / 60_000) * 60;
  const { errors } = await person.submit({ from: now - 600, to: now - 4200 });
  expect(Object.keys(errors ?? {})).toEqual(['to']);
  // A person reads its name in the field’s error.
  expect(errors?.['to']).toContain(correctWindowButton.label);
  await person.press('event-logs:window:correct');
  const turned = await person.waitForModal(holds('from:1'));
  expect(turned.state.values['from:1']?.['from']).toMatchObject({ selected_date_time: now - 4200 });
  expect(turned.state.values['to:1']?.['to']).toMatchObject({ selected_date_time: now - 600 });
  const old = await person.submit({ 'from:1': now - 80 * 3600, 'to:1': now - 73 * 3600 });
  expect(Object.keys(old.errors ?? {})).toEqual(['to:1']);
  expect(old.errors?.['to:1']).toContain(correctWindowButton.label);
  await person.press('event-logs:window:correct');
  await person.waitForModal(holds('from:2'));
  await submitForm(person);
  await waitForPost(`D${alice}`, says.done);
  expect(exportRequests()[0]?.path).toContain('/501/');
  const [sent] = exportRequests().map(({ body }) => body as { from: number; to: number });
  expect((sent?.to ?? 0) - (sent?.from ?? 0)).toBe(24 * 3_600_000);
});

const twoDaysAgo = new Date(Date.now() - 2 * 86_400_000).toLocaleDateString('en-GB', {
  day: 'numeric',
  month: 'short',
  timeZone: 'Europe/Berlin',
});

test.each([
  ['export 501 last hour in #ops', '501', 1],
  ['export #501 for 3h to <#C0OPS0000|ops>', '501', 3],
  ['events last 6h 501 here', '501', 6],
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
])('what cannot be read of %s is told above the form', async (words) => {
  const person = await alicesForm(words);
  expect(readProblem(person.modal())).toMatchSnapshot();
});

test('a form opens without filters, and the last of them can be removed', async () => {
  const person = await alicesForm();
  expect(holds('filters')(await person.waitForModal('event-logs:submit'))).toBe(false);
  await person.press('event-logs:filter');
  await person.waitForModal(holds('filters'));
  await person.press('event-logs:filter-remove:1');
  await person.waitForModal((view) => !holds('filters')(view));
  await submitForm(person);
  await waitForPost(`D${alice}`, says.done);
  expect(exportRequests()[0]?.body).not.toHaveProperty('filters');
});

test('filters are rows of menus and values that come and go', async () => {
  const person = await alicesFilteredForm();
  await person.choose('event-logs:filter-field:1', 'country');
  person.type({ filters: 'de\nfr, at\n', query: 'kept' });
  await person.press('event-logs:filter');
  await person.waitForModal(holds('filters-2'));
  await person.choose('event-logs:filter-field:2', 'url');
  // A whole URL is rarely looked for.
  const usual = await person.waitForModal(holds('filter-2-1'));
  expect(usual.state.values['filter-2-1']?.['event-logs:filter-op:2']).toMatchObject({
    selected_option: { value: 'contains' },
  });
  person.type({ 'filters-2': '/login' });
  await person.press('event-logs:filter');
  await person.waitForModal(holds('filters-3'));
  await person.choose('event-logs:filter-field:3', 'asn');
  await person.choose('event-logs:filter-op:3', 'cidr');
  const cidr = await person.waitForModal(warnsAt('filters-3'));
  expect(readHint(cidr, 'filters-3')).toMatchSnapshot('a network of what is no address');
  const { errors } = await person.submit({ 'filters-3': '203.0.113.0/24' });
  expect(errors).toMatchSnapshot('the same, sent');
  await person.press('event-logs:filter-remove:3');
  const left = await person.waitForModal((view) => !holds('filters-3')(view));
  expect([readTyped(left, 'filters'), readTyped(left, 'filters-2'), readTyped(left, 'query')]).toEqual([
    'de\nfr, at\n',
    '/login',
    'kept',
  ]);
  expect((await person.submit({ 'filters-2': '' })).errors).toMatchSnapshot('without a value');
  await submitForm(person, { 'filters-2': '/login' });
  await waitForPost(`D${alice}`, says.done);
  expect(exportRequests()[0]?.body).toMatchObject({
    query: 'kept',
    filters: [
      { field: 'country', op: 'in', value: ['DE', 'FR', 'AT'] },
      { field: 'url', op: 'contains', value: ['/login'] },
    ],
  });
});

test('values without a field are told at their input, and nothing is asked', async () => {
  const person = await alicesFilteredForm();
  expect((await person.submit({ filters: 'country in DE' })).errors).toMatchSnapshot();
  expect(exportRequests()).toEqual([]);
});

test('a key typed into a field is told under it, and goes nowhere', async () => {
  const { key } = bot.cdn;
  const person = await alicesFilteredForm();
  const lines = bot.logs.length;
  bot.slack.calls.length = 0;
  const { errors } = await person.submit({ query: key, filters: `url contains ${key}` });
  expect(errors).toMatchSnapshot();
  await person.press('event-logs:filter');
  await person.waitForModal(holds('filters-2'));
  expect(JSON.stringify(bot.slack.calls)).not.toContain(key);
  expect(bot.logs.slice(lines).join('')).not.toContain(key);
  expect(exportRequests()).toEqual([]);
  await expectNothingLeft();
});

test('what the plan lacks is said in a sentence, and once it is there the same export is one press away', async () => {
  const refusal = { statusCode: 403, success: false, message: '', errorKey: 'invalid_plan_type.event_logs' };
  const body = { logs: null, errorResponse: refusal };
  bot.cdn.faults.add({ match: { path: /export$/ }, status: 403, body });
  await exportTo(ops);
  const told = await waitForPost(ops, says.failed);
  const { ts } = told;
  expect(readExport(told)).toMatchSnapshot();
  await bot.slack.as(alice, ops).press('event-logs:again:0', { ts });
  await waitForPost(ops, says.posted());
});

test('what was refused comes back in the form, to be changed', async () => {
  const person = await alicesFilteredForm();
  await person.choose('event-logs:filter-field:1', 'action');
  await person.press('event-logs:filter');
  await person.waitForModal(holds('filters-2'));
  await person.choose('event-logs:filter-field:2', 'asn');
  bot.cdn.faults.add({ match: { path: /export$/ }, status: 400, body: { message: 'No such filter.' } });
  const filters = { filters: 'log', 'filters-2': 'AS64500' };
  await submitForm(person, { ...filters, query: 'login', pseudonyms: ['yes'], channel: ops });
  const { ts } = await waitForPost(ops, says.failed);
  await person.press('event-logs:change:0', { ts });
  const form = await person.waitForModal('event-logs:submit');
  expect([readTyped(form, 'query'), readTyped(form, 'filters-2')]).toEqual(['login', 'AS64500']);
  expect(form.state.values['channel']?.['channel']).toMatchObject({ selected_conversation: ops });
  expect(form.state.values['pseudonyms']?.['pseudonyms']).toMatchObject({
    selected_options: [{ value: 'yes' }],
  });
  await person.press('event-logs:filter-remove:2');
  await person.waitForModal((view) => !holds('filters-2')(view));
  await submitForm(person, { query: '' });
  await waitForPost(ops, says.done);
  const [refused, changed] = exportRequests().map(({ body }) => body as { from: number; filters: object[] });
  expect(changed?.filters).toEqual(refused?.filters.slice(0, 1));
  expect(changed?.from).toBe(refused?.from);
});

test.each([
  [413, 'event-logs:change'],
  [403, 'event-logs:again'],
])('an upload that Slack refuses for good (HTTP %i) is told at once', async (status, button) => {
  bot.slack.script.fail('files.upload', 'refused', 1, status);
  await exportTo(ops);
  const told = await waitForPost(ops, says.failed);
  expect(readExport(told)).toMatchSnapshot();
  expect(JSON.stringify(told.blocks)).toContain(`"${button}:`);
  expect(exportRequests()).toHaveLength(1);
  await expectNothingLeft();
});

test('of two presses at once none undoes the other', async () => {
  const person = await alicesFilteredForm();
  const before = person.modal()?.hash;
  await Promise.all([person.press('event-logs:filter'), person.choose('event-logs:filter-op:1', 'cidr')]);
  await person.waitForModal(({ hash }) => hash !== before);
  await person.press('event-logs:filter');
  const { state } = await person.waitForModal(holds('filters-2'));
  expect(state.values['filter-1-0']?.['event-logs:filter-op:1']).toMatchObject({
    selected_option: { value: 'cidr' },
  });
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
