import { createHmac } from 'node:crypto';
import {
  Client,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';
import {
  checkAssistantBlocks,
  findMisfit,
  listCalls,
  listElements,
  parseArguments,
} from './assistant-blocks.ts';
import type { ToolServer } from './manifest.ts';
import type { Simulation } from './simulation.ts';
import { isObject, type Json, memberKey, textOf } from './world.ts';

/** What a call gave, after Slack's own rules: blocks are dropped on any broken one. */
export interface AssistantAnswer {
  readonly isError: boolean;
  readonly text: string;
  readonly facts: Json | undefined;
  readonly blocks: readonly Json[];
  /** Why there is no answer of the app: the person did not allow the call, or it took too long. */
  readonly withoutAnswer?: 'denied' | 'too-late';
}

interface AskedCall {
  readonly tool: string;
  readonly args: object;
}

/** Slack's assistant in the conversation with one person: it calls the tools of the app's server, and signs. */
export interface Assistant {
  /** The listed tools, as the server gave them. */
  tools(): Promise<Json[]>;
  /** @throws Error for what a model cannot send: a tool that is not listed, arguments that do not fit its schema */
  call(tool: string, args?: object): Promise<AssistantAnswer>;
  /** Presses what calls this tool in the last answer: a button, or the option of a menu with this label. */
  press(tool: string, label?: string): Promise<AssistantAnswer>;
  /** The calls that were put to the person first: all that do not only read. */
  readonly asked: readonly AskedCall[];
  close(): Promise<void>;
}

/** Which protocol it speaks: with a handshake, as Slack does today, or the version without. */
export type AssistantEra = 'handshake' | '2026-07-28';

/** `_meta.slack` of a call, in which alone the person is named. */
export interface AssistantPerson {
  readonly user_id: string;
  readonly team_id: string;
  readonly enterprise_id?: string;
}

/** Slackbot gives up after them. */
const longestMs = 60_000;
const blockKit = { 'io.slack/block-kit': { mimeTypes: ['application/vnd.slack.blocks+json'] } };

/**
 * Source of the rules: https://docs.slack.dev/ai/slackbot-mcp-client and .../returning-rich-responses
 *
 * @throws Error where Slack would offer the person no tools
 */
export function createAssistant(
  sim: Pick<Simulation, 'problem' | 'world'>,
  options: {
    /** The entry of the manifest; undefined = it has none. */
    readonly server: ToolServer | undefined;
    readonly signingSecret: string;
    readonly signsAt?: (() => number) | undefined;
    readonly person: AssistantPerson;
    readonly era?: AssistantEra | undefined;
    readonly longestMs?: number | undefined;
    /** What the person answers when they are asked. They allow it unless given. */
    readonly consent?: ((call: AskedCall) => 'allow' | 'deny') | undefined;
  },
): Assistant {
  const { server, person, signingSecret, era = 'handshake', consent = () => 'allow' } = options;
  if (!server)
    throw new Error(
      'Slack offers no tools of this app: it needs an entry in mcp_servers and the scope mcp:connect',
    );
  assertKnown(sim, person);
  const asked: AskedCall[] = [];
  let client: Promise<Client> | undefined;
  let last: AssistantAnswer | undefined;
  const connect = async (): Promise<Client> => {
    const made = new Client(
      { name: 'Slackbot', version: '1.0.0' },
      {
        capabilities: { extensions: blockKit },
        versionNegotiation: { mode: era === 'handshake' ? 'legacy' : { pin: era } },
      },
    );
    await made.connect(
      new StreamableHTTPClientTransport(new URL(server.url), {
        fetch: createSignedFetch(signingSecret, options.signsAt),
      }),
    );
    return made;
  };
  const connected = (): Promise<Client> => (client ??= connect());
  // Nobody is named here, so the list is one for all.
  const tools = async (): Promise<Json[]> => {
    const listed: Json[] = (await (await connected()).listTools()).tools;
    for (const tool of listed)
      for (const lack of findLacks(tool)) sim.problem(`the tool ${textOf(tool['name'])}: ${lack}`);
    return listed;
  };
  let known: Promise<Json[]> | undefined;

  const call = async (tool: string, args: object = {}): Promise<AssistantAnswer> => {
    const listed = await (known ??= tools());
    const called = listed.find(({ name }) => name === tool);
    if (!called) throw new Error(`the app lists no tool ${tool}`);
    const misfit = findMisfit(called['inputSchema'], args);
    if (misfit !== undefined) throw new Error(`the arguments do not fit ${tool}: ${misfit}`);
    if (!isReadingTool(called)) {
      asked.push({ tool, args });
      if (consent({ tool, args }) === 'deny')
        return { isError: true, text: 'Denied.', facts: undefined, blocks: [], withoutAnswer: 'denied' };
    }
    last = await send(called, args, listed);
    return last;
  };

  async function send(called: Json, args: object, listed: readonly Json[]): Promise<AssistantAnswer> {
    const tool = textOf(called['name']);
    const fail = (problem: string, text: string): AssistantAnswer => {
      sim.problem(`the tool ${tool}: ${problem}`);
      return { isError: true, text, facts: undefined, blocks: [] };
    };
    try {
      const result = await (await connected()).callTool(
        { name: tool, arguments: { ...args }, _meta: { slack: { ...person } } },
        { timeout: options.longestMs ?? longestMs },
      );
      const [content] = result.content;
      if (content?.type !== 'text' || content.text === '') return fail('an answer without text', '');
      const isError = result.isError === true;
      const slack = result['_meta']?.['slack'];
      const given = isObject(slack) ? slack['blocks'] : undefined;
      const { blocks, broken, dead } = checkAssistantBlocks(given, listed);
      for (const rule of [...broken, ...dead]) sim.problem(`blocks of the tool ${tool}: ${rule}`);
      const facts = result.structuredContent as Json | undefined;
      return { isError, text: content.text, facts, blocks };
    } catch (error) {
      if (error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout)
        return {
          ...fail('no answer in time', `${tool} took too long to answer.`),
          withoutAnswer: 'too-late',
        };
      // Also where the facts do not fit the listed schema.
      if (error instanceof ProtocolError) return fail(error.message, error.message);
      throw error;
    }
  }

  return {
    tools,
    call,
    asked,
    async press(tool, label) {
      const calls = (last?.blocks ?? []).flatMap(listElements).flatMap(listCalls);
      const pressed = calls.find((one) => one.tool === tool && (label === undefined || one.label === label));
      if (!pressed) throw new Error(`nothing calls ${[tool, label].filter(Boolean).join(': ')}`);
      return call(tool, parseArguments(textOf(pressed.value)));
    },
    close: async () => (await client)?.close(),
  };
}

/** A tool that does not say that it only reads counts as writing. */
export function isReadingTool({ annotations }: Json): boolean {
  return isObject(annotations) && annotations['readOnlyHint'] === true;
}

/** What Slack's rules for apps ask of every tool. */
function findLacks(tool: Json): string[] {
  const { name, title, description, annotations, inputSchema, outputSchema } = tool;
  const hint = isObject(annotations) ? annotations['readOnlyHint'] : undefined;
  const meta = isObject(tool['_meta']) ? tool['_meta']['slack'] : undefined;
  return [
    /^[\w.-]{1,128}$/u.test(textOf(name))
      ? []
      : ['its name has other characters than letters, digits, _ - .'],
    textOf(title) === '' ? ['it has no title'] : [],
    textOf(description) === '' ? ['it has no description'] : [],
    typeof hint === 'boolean' ? [] : ['it does not say whether it only reads'],
    isObject(inputSchema) && isObject(outputSchema) ? [] : ['it lacks a schema'],
    isObject(meta) && meta['supportsBlockKit'] === true ? [] : ['it does not say that it answers in blocks'],
  ].flat();
}

/** Slack names ids that exist, and the organization where the workspace belongs to one. */
function assertKnown({ world }: Pick<Simulation, 'world'>, person: AssistantPerson): void {
  const { user_id: user, team_id: team, enterprise_id: enterprise } = person;
  const workspace = world.team(team);
  if (!world.person(user) || !workspace) throw new Error(`Slack knows no ${memberKey(team, user)}`);
  if (workspace.enterpriseId !== enterprise)
    throw new Error(`${team} belongs to ${workspace.enterpriseId ?? 'no organization'}`);
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
