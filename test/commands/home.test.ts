import type { HomeView } from '@slack/types';
import { expect, onTestFinished, test } from 'vitest';
import type { Context, Feature } from '../../src/commands/define.ts';
import { homeTab, loadHome } from '../../src/commands/home.ts';
import { UserError } from '../../src/errors.ts';
import { section } from '../../src/views/blocks/blocks.ts';
import { renderState } from '../../src/views/home.ts';
import { ask } from '../support/bot.ts';
import { createCommandHarness, readText } from '../support/command-harness.ts';
import { findViewProblems } from '../support/slack-limits.ts';
import { readStable } from '../support/words.ts';
import { channels, openForm, startExportBot, submitForm, users } from './exports/bot.ts';
import { entry, shop } from './origin-errors/entries.ts';

const waits = 'one waits for';

/** The Home tab as somebody sees it to whom these features add something. */
async function homeWith(context: Context, features: readonly Feature[]): Promise<HomeView> {
  const view = await loadHome(context, features);
  expect(findViewProblems(view)).toEqual([]);
  return view;
}

const adding = (name: string, homeSection: NonNullable<Feature['homeSection']>): Feature => ({
  name,
  commands: [],
  homeSection,
});

test('features add their sections, what is urgent before the buttons, each drawn for the person who looks', async () => {
  await using harness = await createCommandHarness({ zones: 1 });
  const { context } = harness.person();
  const view = await homeWith(context, [
    adding('approvals', async ({ person }) => [section(`${waits} <@${person.userId}>`)]),
    adding('nothing', async () => []),
    adding('digests', async () => [section('two digests')]),
  ]);
  expect(readText(view)).toMatch(/waits for <@U0ALICE00>\nZones\n[\s\S]*\nHelp\ntwo digests/u);
});

test('a section that fails says so with a reference, and the others stay', async () => {
  await using harness = await createCommandHarness({ zones: 1 });
  const { context } = harness.person();
  const cause = new Error('the store is away');
  const said = readStable(
    await homeWith(context, [
      adding('approvals', async () => {
        throw cause;
      }),
      adding('digests', async () => {
        throw new UserError('Digests are asleep.', 'Wake them.');
      }),
      adding('exports', async () => [section('one export')]),
    ]),
  );
  expect(said).not.toContain(cause.message);
  expect(said).toMatchSnapshot();
});

test('what is going on comes first: zones that need attention and exports under way', async () => {
  const bot = await startExportBot({ zones: 25 });
  onTestFinished(() => bot.stop());
  const person = bot.slack.as(users.alice, channels.ops);
  await person.openHome();
  await expect.poll(() => person.home()).toBeDefined();
  expect(person.home()?.reads).not.toMatch(/:warning:|1 export/u);
  const upload = bot.slack.script.hold('files.upload', 'before');
  await openForm(person);
  await submitForm(person);
  await upload.reached;
  await ask(person, 'zones');
  await person.openHome();
  await expect
    .poll(() => person.home()?.reads)
    .toMatch(/^[^\n]*\n:warning: \d+ zones[^\n]* · 1 export[^\n]*\n[^\n]*\n[^\n]*\nZones\n/u);
  upload.release();
});

test('zones that fail now come with the state, once their errors were read, until they stop', async () => {
  await using harness = await shop({ '2026-11-21': [entry({ at: '2026-11-21T11:40:00Z' })] });
  const person = harness.person();
  const state = async () => readText({ blocks: (await homeTab.homeSection?.(person.context)) ?? [] });
  expect(await state()).not.toContain('shop');
  await person.run('errors shop');
  expect(await state()).toMatchSnapshot();
  harness.advance(30 * 60_000);
  expect(await state()).not.toContain('fail now');
});

const zones = { zones: 240, attention: 2, takenAt: new Date('2026-11-21T11:00:00Z') };
const nothing = {
  linked: true,
  incidents: 0,
  incidentsOfOthers: 0,
  failing: [],
  checked: 0,
  zones: undefined,
  underWay: 0,
};

test.each([
  ['without a key', { ...nothing, linked: false }],
  ['before anything was read', nothing],
  ['when all is well', { ...nothing, zones: { ...zones, attention: 0 } }],
  ['with an incident', { ...nothing, incidents: 1, zones: { ...zones, attention: 0 } }],
  ['when a zone fails', { ...nothing, failing: ['shop'], checked: 25, zones }],
  ['when zones fail that are not known by name', { ...nothing, failing: [undefined, 'shop', undefined] }],
  [
    'when much happens',
    {
      linked: true,
      incidents: 2,
      incidentsOfOthers: 1,
      failing: ['shop', 'api', 'a<b', 'docs'],
      checked: 240,
      zones,
      underWay: 3,
    },
  ],
])('the state %s', (_, state) => {
  expect(readStable({ blocks: renderState(state) })).toMatchSnapshot();
});

test('admins see the incidents of everybody, others those of their own alerts and how many channels have', async () => {
  await using harness = await createCommandHarness({ zones: 1 });
  const alerts = [
    { id: 'al1', owner: { userId: 'U0BOB0000' }, channel: 'C0OPS0000' },
    { id: 'al2', owner: { userId: 'U0CAROL00' }, channel: 'C0OPS0000' },
    { id: 'al3', owner: { userId: 'U0CAROL00' }, channel: 'U0CAROL00' },
  ];
  const incidentsOf = async (userId: string, admin: boolean) => {
    const { context } = harness.person();
    const reports = {
      ...context.reports,
      list: async () => alerts,
      listRecentIncidents: async () => [
        ...alerts.map(({ id }) => ({ alertId: id, closedAt: undefined })),
        { alertId: 'al2', closedAt: new Date() },
      ],
    } as never;
    const actor = async () => ({ ...(await context.authorizer.actor()), admin });
    const person = { ...context.person, userId };
    const asked = { ...context, person, reports, authorizer: { ...context.authorizer, actor } };
    return readText({ blocks: (await homeTab.homeSection?.(asked)) ?? [] }).split('\n', 1);
  };
  expect({
    admin: await incidentsOf('U0ALICE00', true),
    owner: await incidentsOf('U0BOB0000', false),
    reader: await incidentsOf('U0DAVE000', false),
    'owner of a private one': await incidentsOf('U0CAROL00', false),
  }).toMatchSnapshot();
});
