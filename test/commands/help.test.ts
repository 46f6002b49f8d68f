import { expect, test } from 'vitest';
import { alice, buttons, createCommandHarness, readText } from '../support/command-harness.ts';

test('/cdn alone shows every command, grouped, with the next step', async () => {
  await using harness = await createCommandHarness({ zones: 3 });
  const [answer] = await harness.person().run('');
  expect(readText(answer)).toMatchInlineSnapshot(`
    "*What the bot does for you*
    Answers are private to you unless they say otherwise.
    *Zones*
    \`/cdn zones [search] [sort:bandwidth|charges|name] [only:attention|disabled|suspended]\`
    List your pull zones with bandwidth, charges and what needs attention
    \`/cdn zone &lt;id|name|hostname&gt;\`
    Show one zone: hostnames, caching, security, edge rules, optimizer, logging
    *Origin errors*
    \`/cdn errors &lt;zone&gt; [today|2026-11-20|2026-11-18..20|last 3 days]\`
    Show why a zone’s origin fails: errors grouped by code, server zone and address, hour by hour
    *Apps*
    \`/cdn app &lt;appId&gt;\`
    Show a container application: latency now and on average, volume size, monthly cost, latency chart
    *Upload scanning*
    \`/cdn scanning &lt;shieldZoneId&gt;\`
    Upload scanning of a shield zone: totals, what was blocked, the newest days as a chart
    *API keys*
    \`/cdn keys\`
    List the API keys of the account: ids, roles, last four characters, which one is yours
    *Approvals*
    \`/cdn approvals\`
    What waits for your approval, and what you asked for
    *Digests*
    \`/cdn digest [new|list|run &lt;id&gt;|pause &lt;id&gt;|resume &lt;id&gt;|edit &lt;id&gt;|delete &lt;id&gt;]\`
    Posts on a schedule: zones overview, origin errors, upload scanning, app usage, and what changed
    *Connect*
    \`/cdn connect\`
    Connect your own CDN key
    \`/cdn whoami\`
    Whether a key is connected for you, since when, and what you may do
    \`/cdn disconnect\`
    Make the bot forget your CDN key
    *Why*
    \`/cdn why &lt;command…&gt;\`
    Whether you may run a command here, and each step of that decision
    *Help*
    \`/cdn help [all|words]\`
    What you may run, or find a command by what it does
    /cdn zones
    /cdn zone
    /cdn errors
    /cdn app
    A word missing opens a form. \`/cdn help bandwidth\` finds commands by what they do. \`/cdn help all\` shows 5 more commands and why you may not run them."
  `);
  expect([...buttons(answer).keys()]).toMatchInlineSnapshot(`
    [
      "/cdn zones",
      "/cdn zone",
      "/cdn errors",
      "/cdn app",
    ]
  `);
});

test('without a key help offers to connect one first', async () => {
  await using harness = await createCommandHarness({ zones: 3 });
  const [answer] = await harness.person(alice, 'none').run('help');
  expect(readText(answer)).toMatchSnapshot();
  expect(buttons(answer).get('Connect your key')).toEqual(['connect:open', 'open']);
  expect(buttons(answer).has('/cdn zones')).toBe(false);
});

test.each([
  ['bandwidth', ['/cdn zones']],
  ['BANDWIDTH charges', ['/cdn zones']],
  ['/cdn whoami', ['/cdn whoami']],
  ['edge rules', ['/cdn zone']],
  ['cost', ['/cdn zones', '/cdn app']],
  ['billing', ['/cdn zones']],
  ['traffic', ['/cdn zones']],
  ['certificate', ['/cdn zones', '/cdn zone']],
  ['top', ['/cdn zones']],
  ['logs', ['/cdn zone', '/cdn errors']],
])('help %s finds %j, with examples', async (search, found) => {
  await using harness = await createCommandHarness({ zones: 3 });
  const [answer] = await harness.person().run(`help ${search}`);
  expect([...buttons(answer).keys()]).toEqual(found);
  expect(readText(answer)).toMatchSnapshot();
});

test('help about nothing it knows says so', async () => {
  await using harness = await createCommandHarness({ zones: 3 });
  const [answer] = await harness.person().run('help zonse');
  expect(answer?.text).toMatchSnapshot();
  expect([...buttons(answer).keys()]).toEqual(['/cdn zone', '/cdn zones', 'All commands']);
});

test('an unknown word offers the nearest commands with the words after it', async () => {
  await using harness = await createCommandHarness({ zones: 12 });
  const person = harness.person();
  const [answer] = await person.run('zoens shop sort:name');
  const meant = 'zones shop sort:name';
  expect(answer?.text).toMatchSnapshot();
  expect(buttons(answer).get(`/cdn ${meant}`)).toEqual(['help:run:0', meant]);
  const messages = await person.press('help:run:0', meant);
  expect(readText(messages.at(-1))).toContain('matching `shop`');
});

test.each([
  ['cost', ['/cdn zones sort:charges', '/cdn app']],
  ['Billing', ['/cdn zones sort:charges']],
  ['top', ['/cdn zones sort:bandwidth']],
  ['certificate', ['/cdn zones only:attention', '/cdn zone']],
  ['logs shop', ['/cdn zone shop', '/cdn errors shop', '/cdn audit shop']],
  ['constructor', ['Find the zone constructor']],
])('the common word %s leads to %j', async (typed, offered) => {
  await using harness = await createCommandHarness({ zones: 3 });
  const [answer] = await harness.person().run(typed);
  expect([...buttons(answer).keys()]).toEqual([...offered, 'All commands']);
});

test('an unknown word that could be a zone offers to look for it', async () => {
  await using harness = await createCommandHarness({ zones: 3 });
  const [answer] = await harness.person().run('cdn.example.com');
  expect(buttons(answer).get('Find the zone cdn.example.com')).toEqual([
    'help:run:8',
    'zone cdn.example.com',
  ]);
});

test('markup in an unknown word is shown as text', async () => {
  await using harness = await createCommandHarness({ zones: 3 });
  const [answer] = await harness.person().run('&lt;!channel&gt;');
  expect(answer?.text).toMatch(/^`&lt;!channel&gt;` /);
});
