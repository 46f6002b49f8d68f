import { expect, test } from 'vitest';
import { appIds } from '../../simulator/cdn/apps.ts';
import { findElements } from '../../simulator/slack/block-ids.ts';
import { ask, connect, disconnect, followMessages, useBot } from '../support/bot.ts';
import { configure } from '../support/settings.ts';
import { readStable } from '../support/words.ts';

const ops = 'C0OPS0000';

const bot = await useBot({ zones: 12 }, ['U0ALICE00', 'U0BOB0000']);
// An ID that looks like a name.
bot.cdn.data.apps.push({ ...bot.cdn.data.apps[0]!, id: 'shop-app' });
const settings = { operators: ['U0ALICE00'], destroyApprovals: '1', approvers: ['U0BOB0000'] };
const alice = bot.slack.as('U0ALICE00', ops);
const bob = bot.slack.as('U0BOB0000', ops);
await configure(alice, settings);

/** Types words that open a form. */
async function openForm(words: string, form: string) {
  await alice.slash(words);
  return alice.waitForModal(form);
}

const readLabels = (options: readonly object[]): string[] =>
  options.map((option) => (option as { text: { text: string } }).text.text);

test('a name that one person gives is typed and seen by another, in answers and menus', async () => {
  expect(readStable(await ask(alice, `name app ${appIds.api} Checkout EU`))).toMatchSnapshot('named');
  const answer = await ask(bob, 'app checkout eu');
  expect(answer.text).toContain('Checkout EU');
  expect(answer.reads).toContain(appIds.api);
  await ask(bob, 'zones app:"checkout eu"');
  await bob.waitForMessage(new RegExp(`1 zone of the app ${appIds.api}`, 'u'));

  await bob.slash('app');
  await bob.waitForModal('apps:submit');
  const [first = ''] = readLabels(await bob.suggest('apps:pick', 'check'));
  expect(first).toContain('Checkout EU');
  expect(first).toContain(appIds.api);
  await bob.closeModal();

  expect(readStable(await ask(bob, 'name list'))).toMatchSnapshot('list');
});

test('the form of an id is filled with it, and an empty name takes the name away', async () => {
  await openForm(`name app ${appIds.worker}`, 'names:submit');
  expect((await alice.submit({ kind: 'app', id: appIds.worker, name: 'worker' })).errors).toBeUndefined();
  await alice.waitForMessage(/worker/);
  expect((await ask(alice, 'app worker')).reads).toContain(appIds.worker);
  await openForm(`name app ${appIds.worker}`, 'names:submit');
  await alice.submit({ kind: 'app', id: appIds.worker, name: '' });
  await alice.waitForMessage(/Removed/);
  expect((await ask(alice, 'name list')).reads).not.toContain('worker');
});

test('a name is undone where it is told, and never over a later one; none removes it', async () => {
  await ask(bob, `name app ${appIds.worker} "Shop: EU"`);
  const renamed = await ask(bob, `name app ${appIds.worker} Shop US`);
  await bob.press('names:undo', { ts: renamed.ts });
  const undone = await bob.waitForMessage(({ ts, reads }) => ts === renamed.ts && reads.includes('Shop: EU'));
  expect(readStable(undone)).toMatchSnapshot('undone');
  const removed = await ask(bob, `name app ${appIds.worker} none`);
  expect((await ask(bob, 'name list')).reads).not.toContain('Shop');
  await ask(alice, `name app ${appIds.worker} Worker EU`);
  await bob.press('names:undo', { ts: removed.ts });
  const refused = await bob.waitForMessage(({ reads }) => reads.startsWith(':warning:'));
  expect(refused.reads).toContain('Alice');
  const own = await ask(alice, `name app ${appIds.worker} Worker`);
  await ask(alice, `name app ${appIds.worker} Worker EU`);
  await alice.press('names:undo', { ts: own.ts });
  expect(
    readStable(await alice.waitForMessage(({ reads }) => reads.startsWith(':warning:'))),
  ).toMatchSnapshot('changed since');
});

test('a shield zone that was looked at is offered, and a new one by its number', async () => {
  await ask(bob, 'scanning 501');
  await ask(bob, 'name shield 501 shop shield');
  await bob.slash('scanning');
  const form = await bob.waitForModal('upload-scanning:submit');
  expect(findElements(form.blocks).map(({ element }) => element['type'])).toEqual(['external_select']);
  const [known = '', note] = readLabels(await bob.suggest('shieldZoneId', ''));
  expect(known).toMatch(/shop shield.*501/u);
  expect(note).toBeDefined();
  const offered = await bob.suggest('shieldZoneId', '502');
  expect(offered.map((option) => option['value'])).toContain('502');
  await bob.suggest('shieldZoneId', 'shop');
  await bob.choose('shieldZoneId', '501');
  await bob.submit();
  await bob.waitForMessage(({ text }) => text.includes('shop shield:'));
});

test('an id with zeros before it is the same one, in names, answers and forms', async () => {
  await ask(alice, 'name script 0301 front');
  expect((await ask(alice, 'name list')).reads).toContain('script 301');
  expect((await ask(alice, 'scanning 0501')).reads).toContain('shield zone 501');
  const forms: string[] = [];
  for (const words of ['variable 301 12', 'variable 0301 12']) {
    await openForm(words, 'variables:submit');
    const form = await alice.waitForModal(({ blocks }) => JSON.stringify(blocks).includes('"301"'));
    forms.push(form.reads);
    await alice.closeModal();
  }
  expect(forms[1]).toBe(forms[0]);
});

test('a name of several words is found without quotes, and an id before it', async () => {
  await ask(alice, 'name script 304 checkout v2');
  await ask(alice, `name app ${appIds.idle} checkout v2`);
  await ask(alice, 'name shield 504 Black Friday');
  const fields: [string, string, string[]][] = [
    ['variable checkout v2', 'variables:submit', ['304']],
    ['variable Checkout V2 12', 'variables:submit', ['304', '12']],
    ['variable 301 12', 'variables:submit', ['301', '12']],
    ['volume delete checkout v2 data-1', 'volumes:submit', [appIds.idle, 'data-1']],
    ['export black friday last 6h', 'event-logs:submit', ['504']],
  ];
  for (const [words, form, ids] of fields) {
    await openForm(words, form);
    const filled = (shown: object): boolean => ids.every((id) => JSON.stringify(shown).includes(`"${id}"`));
    expect(await alice.waitForModal(({ state }) => filled(state))).toBeDefined();
    await alice.closeModal();
  }
  await ask(alice, 'zones app:checkout v2');
  await alice.waitForMessage(new RegExp(`of the app ${appIds.idle}`, 'u'));
  await ask(alice, `name app ${appIds.idle} none`);

  // Who gave the name stands on the form.
  await openForm('variable checkout v2', 'variables:submit');
  const form = await alice.waitForModal(({ reads }) => reads.includes('checkout v2'));
  expect(form.reads).toMatch(/304 .* checkout v2 .* @Alice/u);
  await alice.closeModal();
  // A shorter name does not take its place.
  await ask(bob, 'name script 305 checkout');
  await alice.slash('variable checkout v2 12');
  const refused = await alice.waitForModal(/checkout \(305\)/u);
  expect(readStable(refused)).toMatchSnapshot('two names');
  await alice.closeModal();
  for (const [quoted, id] of [
    ['"checkout" v2', '305'],
    ['"checkout v2" 12', '304'],
  ] as const) {
    await openForm(`variable ${quoted}`, 'variables:submit');
    await alice.waitForModal(({ state }) => JSON.stringify(state).includes(`"${id}"`));
    await alice.closeModal();
  }
  await ask(bob, 'name script 305 none');
});

test('only the giver or an admin changes a name', async () => {
  await ask(bob, `name app ${appIds.idle} spare`);
  await ask(alice, `name app ${appIds.idle} idle`);
  expect((await ask(bob, 'name list')).reads).toContain('idle');
  expect(readStable(await ask(bob, `name app ${appIds.idle} mine`))).toMatchSnapshot('not the giver');
  expect((await ask(bob, 'name list')).reads).not.toContain('mine');
});

test.each([
  { name: appIds.worker.replace('w', '\u200bw') },
  { name: '\u200b\u2060' },
  { id: 'app0\u200bapi00000001', name: 'x' },
  { id: 'app0\u202eapi00000001', name: 'x' },
])('the form refuses %j', async (typed) => {
  await openForm(`name app ${appIds.api}`, 'names:submit');
  const { errors } = await alice.submit({ kind: 'app', id: appIds.api, ...typed });
  expect(errors).toMatchSnapshot();
  await alice.closeModal();
});

test.each([{ name: '\u0441heckout' }, { name: 'x'.repeat(41) }, { id: 'app0\u200bapi00000001', name: 'x' }])(
  'an undo with another value %j is read like the form',
  async (forged) => {
    const { ts } = await ask(alice, `name script 399 ${JSON.stringify(forged).length} steps`);
    const { next } = followMessages(alice);
    const value = JSON.stringify({ kind: 'app', id: appIds.api, ...forged });
    await alice.press('names:undo', { ts, value });
    expect((await next()).reads).toMatch(/^:warning:/u);
  },
);

test.each([
  'name zone 5 x',
  `name app ${appIds.api} ${appIds.worker}`,
  `name app ${appIds.api} ${appIds.worker.toUpperCase()}`,
  `name app ${appIds.api} shop-app`,
  `name app ${appIds.api} SHOP‐app`,
  // The zone of this name, or with this hostname, uses another one.
  `name app ${appIds.worker} API`,
  'name script 302 shop',
  'name script 302 https://shop.cdn.example.net/x',
  `name app ${appIds.api} \u0441heckout`,
  'name script abc x',
  `name app ${appIds.api} 12345`,
  `name app ${appIds.api} ${'x'.repeat(41)}`,
  'name app app0other CHECKOUT EU',
])('%s is refused with what is wrong', async (words) => {
  expect(readStable(await ask(alice, words))).toMatchSnapshot();
});

test('a form that closed before it failed opens again from the message, filled in', async () => {
  const typed = { kind: 'app', id: appIds.api, name: 'shop-app' };
  await openForm('name', 'names:submit');
  const { next } = followMessages(alice);
  await alice.submit(typed);
  const failed = await next();
  expect(readStable(failed)).toMatchSnapshot('the failure');
  await alice.press('forms:again', { ts: failed.ts });
  const { blocks } = await alice.waitForModal('names:submit');
  const filled = blocks.flatMap((block) => (block['element'] ? [block['element']] : []));
  expect(
    filled.map((input) => Object.entries(input).find(([name]) => name.startsWith('initial_'))?.[1]),
  ).toEqual([expect.objectContaining({ value: typed.kind }), typed.id, typed.name]);
  await alice.closeModal();
});

test.each([
  ['variable 301 12', { defaultValue: 'hush-hush', required: 'true' }, ['301', '12', 'true']],
  [
    'volume delete app0api00000001 data-1',
    { confirmVolumeId: 'data-1', reason: 'old' },
    ['app0api00000001', 'data-1', 'data-1', 'old'],
  ],
  [
    'export 501 last 6h',
    { query: 'login', filters: 'country in DE', pseudonyms: ['yes'] },
    ['501', 'login', 'country in DE', 'yes'],
  ],
  ['digest new', { kind: ['zones'], days: ['mon'], above: '7' }, ['zones', 'mon', '7']],
  ['alert new charges', { people: ['U0BOB0000'] }, ['U0BOB0000']],
])(
  '%s opens again as it was, once its person has a key again, without secrets',
  async (words, typed, shown) => {
    await alice.slash(words);
    const form = await alice.waitForModal(({ callback_id: id }) => id.endsWith(':submit'));
    await disconnect(alice);
    const { next } = followMessages(alice);
    bot.slack.script.fail('views.update', 'internal_error', 1);
    expect((await alice.submit(typed)).errors).toBeUndefined();
    const failed = await next();
    while (alice.modal()) await alice.closeModal();
    expect(JSON.stringify(failed.blocks)).not.toContain('hush-hush');
    await connect(bot, 'U0ALICE00', ops);
    await alice.press('forms:again', { ts: failed.ts });
    const again = await alice.waitForModal(form.callback_id);
    const inputs = JSON.stringify(findElements(again.blocks).map(({ element }) => element));
    for (const value of shown) expect(inputs).toContain(`"${value}"`);
    for (const part of ['private_metadata', 'submit']) expect(again[part]).toEqual(form[part]);
    await alice.closeModal();
  },
);

test('a failure that may not repeat what was typed says the rest', async () => {
  await openForm('export 501 last 6h', 'event-logs:submit');
  const { next } = followMessages(alice);
  const query = bot.env['SLACK_BOT_TOKEN'] ?? '';
  bot.slack.script.fail('views.update', 'internal_error', 1);
  await alice.submit({ query });
  const failed = await next();
  expect([failed.reads.includes('CDN was not asked'), query.length > 0]).toEqual([true, true]);
  expect(JSON.stringify(failed.blocks)).not.toContain(query);
});

test('no name is given while the CDN does not say whether an app has it as its ID', async () => {
  bot.cdn.faults.add({ match: { path: /new-app/u }, times: Infinity, status: 500 });
  await bob.slash(`name app ${appIds.worker} new-app`);
  await bob.waitForMessage(/HTTP 500/u);
  bot.cdn.faults.clear();
  expect((await ask(bob, 'name list')).reads).not.toContain('new-app');
});
