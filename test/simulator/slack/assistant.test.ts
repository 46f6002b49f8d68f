import { beforeEach, describe, expect, test } from 'vitest';
import { readManifest } from '../../../simulator/slack/manifest.ts';
import type { SlackSimulator } from '../../../simulator/slack/server.ts';
import { openSlack, type Received, startStubApp } from './stub-app.ts';

/*
 * The assistant of the double against a bare server of tools, which answers whatever a test wants.
 */

const alice = 'U0ALICE00';
const words = { title: 'T', description: 'D', _meta: { slack: { supportsBlockKit: true } } };
const schemas = {
  inputSchema: {
    type: 'object',
    properties: { zone: { type: 'string', maxLength: 5 }, limit: { type: 'integer' } },
    required: ['zone'],
  },
  outputSchema: { type: 'object', properties: { count: { type: 'integer' } }, required: ['count'] },
};
const read = { name: 'read', annotations: { readOnlyHint: true }, ...words, ...schemas };
const write = { name: 'write', annotations: { readOnlyHint: false }, ...words, ...schemas };
const good = { content: [{ type: 'text', text: 'One' }], structuredContent: { count: 1 } };

let slack: SlackSimulator;
let app: Awaited<ReturnType<typeof startStubApp>>;
let tools: object[];
let result: object;
let delayMs: number;

beforeEach(async () => {
  [tools, result, delayMs] = [[read, write], good, 0];
  slack = await openSlack(readManifest({ assistant: true }));
  app = await startStubApp(slack, ({ body: { id, method } }) => {
    if (id === undefined) return { status: 202 };
    const answers: Record<string, object> = {
      initialize: {
        protocolVersion: '2025-11-25',
        capabilities: { tools: {} },
        serverInfo: { name: 'stub', version: '1' },
      },
      'tools/list': { tools },
      'tools/call': result,
    };
    const isCall = method === 'tools/call';
    return { body: { jsonrpc: '2.0', id, result: answers[String(method)] }, ...(isCall ? { delayMs } : {}) };
  });
});

const open = (options: Partial<Parameters<SlackSimulator['assistant']>[1]> = {}, userId = alice) =>
  slack.assistant(userId, { origin: app.origin, ...options });

const calls = (): Received[] => app.received.filter(({ body }) => body['method'] === 'tools/call');
const paramsOf = ({ body }: Received) =>
  body['params'] as { arguments: object; _meta: { slack?: object }; capabilities: object };

const withBlocks = (...blocks: object[]) => ({ ...good, _meta: { slack: { blocks } } });
const text = (words = 'Hi') => ({ type: 'mrkdwn', text: words });
const section = { type: 'section', text: text() };
const button = (more: object = {}) => ({
  type: 'button',
  text: { type: 'plain_text', text: 'Go' },
  action_id: 'tool:read',
  value: '{"zone":"shop"}',
  ...more,
});
const actions = (...elements: object[]) => ({ type: 'actions', elements });
const option = (label: string, value: string) => ({ text: { type: 'plain_text', text: label }, value });
const rows = (count: number) =>
  Array.from({ length: count }, () => [{ type: 'raw_text', text: 'x'.repeat(100) }]);
const chart = {
  type: 'data_visualization',
  title: 'Errors',
  chart: { type: 'pie', segments: [{ label: 'a', value: 1 }] },
};

const container = (...child_blocks: object[]) => ({
  type: 'container',
  title: { type: 'plain_text', text: 'C' },
  child_blocks,
});
const table = (count: number) => ({ type: 'table', rows: rows(count) });
const times = <Block>(count: number, block: Block): Block[] => Array.from({ length: count }, () => block);

const call = () => open().call('read', { zone: 'shop' });

describe('who is offered tools', () => {
  test('nobody, without an entry in the manifest or its scope', async () => {
    const origin = 'http://127.0.0.1:1';
    const { server: _, ...without } = readManifest({ assistant: true });
    const bare = await openSlack(without);
    expect(() => bare.assistant(alice, { origin })).toThrow('mcp_servers');
    const { scopes } = readManifest();
    const unscoped = await openSlack({ ...readManifest({ assistant: true }), scopes });
    expect(() => unscoped.assistant(alice, { origin })).toThrow('mcp:connect');
  });
});

describe('a call', () => {
  test.each([
    { why: 'a tool that is not listed', tool: 'other', args: { zone: 'shop' } },
    { why: 'a missing argument', tool: 'read', args: {} },
    { why: 'an argument of another type', tool: 'read', args: { zone: 'shop', limit: '3' } },
    { why: 'an argument that is too long', tool: 'read', args: { zone: 'checkout' } },
  ])('$why is not sent', async ({ tool, args }) => {
    await expect(open().call(tool, args)).rejects.toThrow(tool);
    expect(calls()).toEqual([]);
  });

  test('that does not only read is put to the person, who may deny it', async () => {
    const answers: ('allow' | 'deny')[] = ['deny', 'allow'];
    const own = open({ consent: () => answers.shift() ?? 'deny' });
    expect(await own.call('read', { zone: 'shop' })).toMatchObject({ isError: false });
    expect(own.asked).toEqual([]);
    expect(await own.call('write', { zone: 'shop' })).toMatchObject({ withoutAnswer: 'denied' });
    expect(calls()).toHaveLength(1);
    expect(await own.call('write', { zone: 'shop' })).toMatchObject({ isError: false });
    expect(own.asked).toHaveLength(2);
    expect(calls()).toHaveLength(2);
  });
});

describe('an answer', () => {
  test('within every rule is shown, and its buttons and menus call tools', async () => {
    const menu = {
      type: 'static_select',
      action_id: 'tool:read',
      options: [option('A', '{"zone":"a"}'), option('B', '{"zone":"b"}')],
    };
    const link = button({ action_id: 'panel', url: 'https://panel.example/1', value: undefined });
    result = withBlocks(section, actions(button()), actions(menu), actions(link), chart, chart);
    const own = open();
    expect((await own.call('read', { zone: 'shop' })).blocks).toHaveLength(6);
    await own.press('read');
    await own.press('read', 'B');
    expect(calls().map((one) => paramsOf(one).arguments)).toEqual([
      { zone: 'shop' },
      { zone: 'shop' },
      { zone: 'b' },
    ]);
    await expect(own.press('write')).rejects.toThrow('nothing calls write');
    expect(slack.problems).toEqual([]);
  });

  test.each<[rule: string, blocks: unknown[], says: string]>([
    ['a type that is not taken', [section, { type: 'alert', text: text() }], 'type alert'],
    ['such a type in a container', [container({ type: 'plan' })], 'type plan'],
    ['more than ten blocks in a container', [container(...times(11, section))], 'more than 10 blocks'],
    ['more than 50 blocks', times(51, section), '51 blocks'],
    ['a third chart', [chart, chart, chart], 'more than 2 charts'],
    ['a table of more than 10,000 characters', [table(90)], 'more than 10000'],
    ['tables of more than 20,000 together', times(3, table(60)), 'more than 20000'],
    ['a call of a tool that is not listed', [actions(button({ action_id: 'tool:other' }))], 'not listed'],
    ['arguments that are no text', [actions(button({ value: undefined }))], 'as text'],
    ['arguments that are no JSON', [actions(button({ value: 'shop' }))], 'no JSON object'],
    ['arguments that do not fit', [actions(button({ value: '{}' }))], 'do not fit'],
    [
      'arguments that are too long',
      [actions(button({ value: JSON.stringify({ zone: 'x'.repeat(2_000) }) }))],
      'more than 2000',
    ],
    ['two buttons of one tool in a block', [actions(button(), button())], 'already exists'],
    ['an address that is not https', [actions(button({ url: 'http://panel.example/1' }))], 'http://panel'],
    ['a private address', [actions(button({ url: 'https://10.0.0.1/1' }))], '10.0.0.1'],
    [
      'a picture in the address',
      [{ type: 'image', alt_text: 'x', image_url: 'data:image/png;base64,AA==' }],
      'data:image',
    ],
    ['a rule of Block Kit', [{ type: 'header', text: text() }], 'unsupported type: mrkdwn'],
    ['no list of objects', ['section'], 'list of objects'],
  ])('with %s loses all blocks; the text stays', async (_rule, blocks, says) => {
    result = { ...good, _meta: { slack: { blocks: [section, ...blocks].slice(0, 51) } } };
    expect(await call()).toMatchObject({ text: 'One', facts: { count: 1 }, blocks: [] });
    expect(slack.problems.join('\n')).toContain(says);
  });

  test('whose button calls no tool keeps its blocks, and the button does nothing', async () => {
    result = withBlocks(section, actions(button({ action_id: 'zones:page' })));
    const { blocks } = await call();
    expect(JSON.stringify(blocks)).not.toContain('zones:page');
    expect(blocks).toHaveLength(2);
    expect(slack.problems).toHaveLength(1);
  });

  test.each([
    { what: 'facts that do not fit', broken: { ...good, structuredContent: { count: 'one' } } },
    { what: 'no facts', broken: { content: good.content } },
    { what: 'no text', broken: { ...good, content: [] } },
  ])('with $what is an error, as a problem', async ({ broken }) => {
    result = broken;
    expect(await call()).toMatchObject({ isError: true, facts: undefined, blocks: [] });
    expect(slack.problems).toHaveLength(1);
  });
});

test('a tool without title, description, schemas or hints is a problem', async () => {
  const { title: _, ...untitled } = read;
  const { description: __, ...undescribed } = read;
  const { outputSchema: ___, ...unschemed } = read;
  tools = [
    read,
    { ...untitled, name: 'a' },
    { ...undescribed, name: 'b' },
    { ...unschemed, name: 'c' },
    { ...read, name: 'd', annotations: {} },
    { ...read, name: 'e', _meta: {} },
    { ...read, name: 'f g' },
  ];
  await open().tools();
  expect(slack.problems.map((problem) => problem.replace('the tool ', '').slice(0, 1)).join('')).toBe(
    'abcdef',
  );
});
