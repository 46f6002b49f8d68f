import { createHmac } from 'node:crypto';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { checkMessage } from './block-kit/checks.ts';
import type { Simulation } from './simulation.ts';
import { isObject, type Json } from './world.ts';

/** What a call gave, after Slack's own rules: blocks are dropped on any broken one. */
export interface AssistantAnswer {
  readonly isError: boolean;
  readonly text: string;
  readonly facts: Json | undefined;
  readonly blocks: readonly Json[];
}

/** Slack's assistant in the conversation with one person: it calls the tools of the app's server, and signs. */
export interface Assistant {
  /** The listed tools, as the server gave them. */
  tools(): Promise<Json[]>;
  call(tool: string, args?: object): Promise<AssistantAnswer>;
  /** Presses a button of the last answer that calls this tool; its arguments are in the button. */
  press(tool: string): Promise<AssistantAnswer>;
  /** The calls that were put to the person first: all of them, as Slack's guide has it for tools that write. */
  readonly asked: { readonly tool: string; readonly args: object }[];
  close(): Promise<void>;
}

/** Which protocol it speaks: with a handshake, as Slack does today, or the version without. */
export type AssistantEra = 'handshake' | '2026-07-28';

const longestMs = 60_000;
const allowed = new Set(
  'context divider header markdown rich_text section file image video actions carousel input data_table data_visualization table card container'.split(
    ' ',
  ),
);

/** Source of the rules: https://docs.slack.dev/ai/slackbot-mcp-client and .../returning-rich-responses */
export function createAssistant(
  sim: Pick<Simulation, 'problem'>,
  options: {
    readonly address: string;
    readonly signingSecret: string;
    /** `_meta.slack` of calls, in which alone the person is named. */
    readonly person: { readonly user_id: string; readonly team_id: string; readonly enterprise_id?: string };
    readonly era?: AssistantEra;
  },
): Assistant {
  const { person, era = 'handshake' } = options;
  const asked: { tool: string; args: object }[] = [];
  let client: Promise<Client> | undefined;
  let last: AssistantAnswer | undefined;
  const connect = async (): Promise<Client> => {
    const made = new Client(
      { name: 'Slackbot', version: '1.0.0' },
      { versionNegotiation: { mode: era === 'handshake' ? 'legacy' : { pin: era } } },
    );
    await made.connect(
      new StreamableHTTPClientTransport(new URL(options.address), {
        fetch: createSignedFetch(options.signingSecret),
      }),
    );
    return made;
  };
  const connected = (): Promise<Client> => (client ??= connect());
  const tools = async (): Promise<Json[]> => (await (await connected()).listTools()).tools;

  const call = async (tool: string, args: object = {}): Promise<AssistantAnswer> => {
    const listed = (await tools()).find(({ name }) => name === tool);
    if (!listed) throw new Error(`the app lists no tool ${tool}`);
    const hints = isObject(listed['annotations']) ? listed['annotations'] : {};
    if (hints['readOnlyHint'] !== true) asked.push({ tool, args });
    const result = await (await connected()).callTool(
      { name: tool, arguments: { ...args }, _meta: { slack: person } },
      { timeout: longestMs },
    );
    const [content] = result.content as { type: string; text?: string }[];
    const meta =
      isObject(result['_meta']) && isObject(result['_meta']['slack']) ? result['_meta']['slack'] : {};
    const blocks = (meta['blocks'] ?? []) as Json[];
    const broken = findBrokenRules(blocks);
    for (const rule of broken) sim.problem(`blocks of the tool ${tool}: ${rule}`);
    last = {
      isError: result.isError === true,
      text: content?.text ?? '',
      facts: result.structuredContent as Json | undefined,
      blocks: broken.length > 0 ? [] : blocks,
    };
    return last;
  };

  return {
    tools,
    call,
    asked,
    async press(tool) {
      const button = (last?.blocks ?? [])
        .flatMap(({ elements }) => (Array.isArray(elements) ? (elements as Json[]) : []))
        .find(({ action_id: id }) => id === `tool:${tool}`);
      if (!button) throw new Error(`no button calls ${tool}`);
      return call(tool, JSON.parse(String(button['value'])) as object);
    },
    close: async () => (await client)?.close(),
  };
}

/** Signs each request as Slack signs its own. */
export function createSignedFetch(
  signingSecret: string,
  sentAt = () => Date.now(),
  send: typeof globalThis.fetch = fetch,
): typeof globalThis.fetch {
  return async (input, init) => {
    const body = typeof init?.body === 'string' ? init.body : '';
    const timestamp = String(Math.floor(sentAt() / 1000));
    const digest = createHmac('sha256', signingSecret).update(`v0:${timestamp}:${body}`).digest('hex');
    const headers = new Headers(init?.headers);
    headers.set('x-slack-request-timestamp', timestamp);
    headers.set('x-slack-signature', `v0=${digest}`);
    return send(input, { ...init, headers });
  };
}

function findBrokenRules(blocks: readonly Json[]): string[] {
  const broken = blocks.flatMap(({ type }) =>
    allowed.has(String(type)) ? [] : [`a block of the type ${String(type)} is not taken`],
  );
  const count = (type: string): number => blocks.filter((block) => block['type'] === type).length;
  if (blocks.length > 50) broken.push(`${blocks.length} blocks, of which 50 are taken`);
  if (count('data_visualization') > 2) broken.push('more than two charts');
  const tables = blocks.filter(({ type }) => type === 'data_table' || type === 'table');
  if (JSON.stringify(tables).length > 20_000 + 2) broken.push('tables of more than 20,000 characters');
  for (const element of blocks.flatMap(({ elements }) =>
    Array.isArray(elements) ? (elements as Json[]) : [],
  )) {
    const { action_id: id, value, url } = element;
    if (element['type'] !== 'button' || url !== undefined) continue;
    if (typeof id !== 'string' || !id.startsWith('tool:'))
      broken.push(`the button ${String(id)} calls no tool`);
    if (typeof value !== 'string' || value.length > 2000) broken.push('a button without arguments as text');
  }
  const checked =
    blocks.length > 0
      ? checkMessage({ text: 'An answer', blocks: [...blocks] }, { label: 'tool' })
      : undefined;
  return [...broken, ...(checked?.problems ?? [])];
}
