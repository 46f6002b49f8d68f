import { expect, test } from 'vitest';
import { canaryMark } from '../../../simulator/cdn/canaries.ts';
import { generateZone, zone } from '../../../simulator/cdn/zones.ts';
import { readZone, toWireZone } from '../../../src/api/zones/members.ts';
import { findCommand, findForm } from '../../../src/commands/registry.ts';
import { parseWords } from '../../../src/commands/words.ts';
import { UserError } from '../../../src/errors.ts';
import type { Message } from '../../../src/views/blocks/blocks.ts';
import { renderZone, renderZonePart, zoneParts } from '../../../src/views/zones/zone.ts';
import { alice, buttons, createCommandHarness, readText, setup } from '../../support/command-harness.ts';
import { findViewProblems } from '../../support/slack-limits.ts';

test('a zone is found by its exact name in one small search', async () => {
  await using harness = await createCommandHarness({ zones: 60 });
  const [answer, ...more] = await harness.person().run('zone media');
  expect([answer?.text, more]).toMatchSnapshot();
  expect(harness.cdn.requests.map(({ query }) => query)).toMatchObject([{ search: 'media' }]);
});

test('a zone is its state, use and place in three lines, and a menu of its parts', async () => {
  await using harness = await createCommandHarness({ zones: 12 });
  const person = harness.person();
  const [answer] = await person.run('zone checkout');
  expect(readText(answer)).toMatchSnapshot();
});

const readLines = (answer: Message | undefined) =>
  readText(answer)
    .split('\n')
    .filter((line) => line.startsWith('*'));

test.each(zoneParts)('the part %s is lines in the place of the overview, page by page', async (part) => {
  await using harness = await createCommandHarness({ zones: 12 });
  const person = harness.person();
  const [shown] = await person.press('zones:part', `1001 ${part}`);
  expect(shown?.text).toMatchSnapshot('in short');
  const pages = [...buttons(shown)].filter(([label]) => /^\d+–\d+ of/u.test(label));
  // The part `all` repeats the rows of the others.
  const turned = part === 'all' ? pages.slice(0, 1) : pages;
  const others = await Promise.all(turned.slice(1).map(([, press]) => person.press(...press)));
  expect([shown, ...others.flat()].flatMap(readLines)).toMatchSnapshot('rows');
  const [overview] = await person.pressIn(shown, 'Overview');
  expect(buttons(overview).has('Origin errors')).toBe(true);
  expect(await person.run(`zone shop ${part}`)).toEqual([shown]);
});

test('words around a part still find the zone, and ask which part of which', async () => {
  await using harness = await createCommandHarness({ zones: 300 });
  const person = harness.person();
  const [answer] = await person.run('zone sho certificates');
  const [part] = await person.press(...([...buttons(answer).values()][0] ?? ['', '']));
  expect(part?.text).toMatch(/Hostnames: \d/u);
  const [near] = await person.run('zone chekout security');
  const [security] = await person.pressIn(near, 'checkout');
  expect(security?.text).toMatch(/Security: \d/u);
});

test('no secret of a zone is shown or sent as a file, whatever the zone', () => {
  for (let nth = 0; nth < 60; nth += 1) {
    const { zone } = readZone(generateZone(nth)) ?? {};
    if (!zone) throw new Error('the zone cannot be read');
    const shown = { zone, asOf: new Date(0), panel: setup.panel };
    const answers = [renderZone(shown), ...zoneParts.map((part) => renderZonePart(shown, part))];
    expect(JSON.stringify([answers, toWireZone(zone)])).not.toContain(canaryMark);
    expect(Object.keys(toWireZone(zone)).length).toBeGreaterThan(150);
  }
});

test('everything of a zone is sent as a file on request', async () => {
  await using harness = await createCommandHarness({ zones: 12 });
  const person = harness.person();
  const [answer] = await person.run('zone shop');
  const [sent] = await person.pressIn(answer, 'Everything as JSON');
  expect(readText(sent)).toMatchSnapshot();
  expect(sent?.files).toMatchObject([{ name: 'zone-1001-shop.json', mimetype: 'application/json' }]);
  const content = sent?.files?.[0]?.content;
  expect(JSON.parse(new TextDecoder().decode(content as Uint8Array))).toMatchObject({ Id: '1001' });
});

test('several matches are a choice, with a way to see the rest', async () => {
  await using harness = await createCommandHarness({ zones: 300 });
  const person = harness.person();
  const [few] = await person.run('zone shop-eu');
  expect(few?.text).toMatchSnapshot();
  const [many] = await person.run('zone sho');
  expect(buttons(many).size).toBeGreaterThan(10);
  const [one] = await person.press(...([...buttons(many).values()][0] ?? ['', '']));
  expect(one?.text).toMatch(/^shop/u);
});

test('a zone that was deleted meanwhile is said to be gone', async () => {
  await using harness = await createCommandHarness({ zones: 12 });
  const person = harness.person();
  await person.run('zones');
  const [gone] = harness.cdn.data.zones.splice(3, 1);
  await expect(person.press('zones:show', String(gone?.Id))).rejects.toThrowErrorMatchingSnapshot('refusal');
  await expect(person.run('zone media')).rejects.toThrow(UserError);
  // The list was forgotten with it.
  expect((await person.run('zone media'))[0]?.text).toMatchSnapshot('answer');
});

test('of two names that differ only in case, the one that was typed is meant; another spelling asks', async () => {
  const zones = [
    zone({ Id: 1, Name: 'SHOP', OriginUrl: 'https://one.example' }),
    zone({ Id: 2, Name: 'shop', OriginUrl: 'https://two.example' }),
  ];
  await using harness = await createCommandHarness({ data: { zones } });
  const person = harness.person();
  expect(readText((await person.run('zone shop'))[0])).toContain('https://two.example');
  expect(readText((await person.run('zone SHOP'))[0])).toContain('https://one.example');
  expect(readText((await person.run('zone Shop'))[0])).toMatchSnapshot();
});

test('a number that is the id of one zone and the name of another asks which', async () => {
  const zones = [zone({ Id: 12345, Name: 'shop' }), zone({ Id: 2, Name: '12345' })];
  await using harness = await createCommandHarness({ data: { zones } });
  expect(readText((await harness.person().run('zone 12345'))[0])).toMatchSnapshot();
});

test('zone without a word opens a form whose menu searches ids, names and hostnames', async () => {
  await using harness = await createCommandHarness({ zones: 300 });
  const typed = findCommand(parseWords('zone'));
  const form = typed.command.modal?.(typed.words, setup);
  expect(findViewProblems(form as { type: 'modal' })).toEqual([]);
  expect(form).toMatchObject({ callback_id: 'zones:submit', blocks: [{ block_id: 'zone' }] });
  const person = harness.person();
  const media = harness.cdn.data.zones[3];
  expect(await person.search('zones:pick', 'MEDIA ')).toContain(
    `media · ${media?.Hostnames?.[0]?.Value} = ${media?.Id}`,
  );
  expect(await person.search('zones:pick', String(media?.Id))).toHaveLength(1);
  const all = await person.search('zones:pick', '');
  expect(all).toHaveLength(100);
  expect(all.at(-1)).toMatch(/ 201 .* = note$/u);
  expect(await person.search('zones:pick', 'nothing like it')).toMatchSnapshot();
});

test('the form shows the zone that was picked, and refuses lines that are none', async () => {
  await using harness = await createCommandHarness({ zones: 12 });
  const person = harness.person();
  const id = String(harness.cdn.data.zones[3]?.Id);
  const answer = await person.submit('zones:submit', { zone: id });
  expect(answer).toMatchObject([{ text: expect.stringMatching(/^media/u) }]);
  for (const zone of ['note', undefined])
    expect(await person.submit('zones:submit', { zone })).toMatchSnapshot();
  expect(findForm('zones:submit')?.loadingView).toBeUndefined();
  expect(harness.zoneCache.forPerson(alice).get()).toBeUndefined();
});
