import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { KnownBlock } from '@slack/types';
import { DummyDriver, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from 'kysely';
import { expect } from 'vitest';
import { startCdn } from '../../simulator/cdn/server.ts';
import { createCdn } from '../../src/api/cdn.ts';
import type { Audit } from '../../src/auth/audit/audit.ts';
import { type People, type Person, personKey } from '../../src/auth/identity.ts';
import type { KeyStore, LinkedKey } from '../../src/auth/keys/key-store.ts';
import { createAuthorizer } from '../../src/auth/policy/authorizer.ts';
import type { Policies } from '../../src/auth/policy/policies.ts';
import { initialPolicy } from '../../src/auth/policy/policy.ts';
import type { Answer, Context, Fields, Services, Setup } from '../../src/commands/define.ts';
import { features, findAction, findCommand, findForm, findPicker } from '../../src/commands/registry.ts';
import type { ReportService } from '../../src/commands/reports/life.ts';
import { parseWords } from '../../src/commands/words.ts';
import type { StoredChange } from '../../src/commands/zones/history.ts';
import { createZoneCache } from '../../src/commands/zones/zone-cache.ts';
import { UserError } from '../../src/errors.ts';
import { Secret } from '../../src/secrets/secret.ts';
import { explainFailure } from '../../src/slack/receive/failures.ts';
import { createLogger } from '../../src/telemetry/log.ts';
import type { FormResult, Message } from '../../src/views/blocks/blocks.ts';
import { findMessageProblems, findOptionProblems, findViewProblems } from './slack-limits.ts';

export const alice: Person = { teamId: 'T0ACME000', userId: 'U0ALICE00' };
export const bob: Person = { teamId: 'T0ACME000', userId: 'U0BOB0000' };

/** A person who types commands, with the real client against a local CDN. Every answer is checked against Slack's limits. */
interface HarnessPerson {
  readonly context: Context;
  /** The messages that a command answers, in order. */
  readonly run: (text: string) => Promise<Message[]>;
  /** What a person reads whose command is refused. */
  readonly refuse: (text: string) => Promise<Pick<UserError, 'message' | 'hint' | 'offer'>>;
  readonly press: (actionId: string, value: string) => Promise<Message[]>;
  /** Presses the button with this label. */
  readonly pressIn: (message: Message | undefined, label: string) => Promise<Message[]>;
  readonly submit: (
    callbackId: string,
    fields: Fields,
  ) => Promise<FormResult | Message[] | { errors: Record<string, string> }>;
  readonly search: (pickerId: string, typed: string) => Promise<string[]>;
}

/** `timeoutMs`: how long the client waits for the CDN. */
export async function createCommandHarness({
  timeoutMs = 2000,
  changes = [],
  ...options
}: Parameters<typeof startCdn>[0] & {
  readonly timeoutMs?: number;
  readonly audit?: Audit;
  /** Changes of settings that were recorded before. */
  readonly changes?: readonly StoredChange[];
} = {}) {
  let now = Date.UTC(2026, 10, 21, 12, 0, 0);
  const cdn = await startCdn({ ...options, now: () => now });
  const client = createCdn({
    apiUrl: cdn.url,
    originLoggingUrl: cdn.originLoggingUrl,
    timeoutMs,
    now: () => now,
    sleep: async () => {},
  });
  const zoneCache = createZoneCache({ now: () => new Date(now) });
  const linked = new Map<string, Secret>();
  const keyStore = createMemoryKeyStore(linked, () => new Date(now));
  return {
    cdn,
    zoneCache,
    linked,
    /** Lets the bot's clock go on. */
    advance: (ms: number) => {
      now += ms;
    },
    /** A person with the CDN's full key linked, or with none. */
    person(who: Person = alice, key: 'linked' | 'none' = 'linked') {
      if (key === 'linked') linked.set(personKey(who), new Secret(cdn.key));
      const { signal } = new AbortController();
      const authorizer = createAuthorizer({
        person: who,
        foreign: false,
        policies,
        people: unknownPeople,
        keyStore,
      });
      return createPerson({
        person: who,
        cdn: async () => {
          const own = linked.get(personKey(who));
          if (!own) throw new UserError('You have not connected a CDN key yet.', 'Connect yours.', 'connect');
          return client.withKey(own, signal);
        },
        cdnWith: (candidate) => client.withKey(candidate, signal),
        keyStore,
        keyPage: setup.keyPage,
        clientTokens: onlyWith<Services['clientTokens']>(),
        zoneCache: zoneCache,
        names: noNames,
        settingsHistory: onlyWith<Services['settingsHistory']>({
          list: async () => ({ changes: [...changes], total: changes.length }),
        }),
        accounts: onlyWith<Services['accounts']>({
          drop: async () => undefined,
          recentErrors: async () => new Map(),
        }),
        tempDirectory: join(tmpdir(), `chatops-spool-${process.pid}`),
        features,
        channelId: 'C0OPS0000',
        threadTs: undefined,
        authorizer,
        decide: (needs) => authorizer.decide(needs, 'C0OPS0000'),
        refused: () => undefined,
        people: unknownPeople,
        policies,
        audit: options.audit ?? onlyWith<Audit>({ record: async () => undefined }),
        ledger: onlyWith<Services['ledger']>({
          db: emptyDatabase,
          kinds: new Map(),
          now: () => new Date(now),
        }),
        exports: onlyWith<Services['exports']>({ countUnderWay: async () => 0 }),
        reports: onlyWith<ReportService>({
          list: async () => [],
          listRecentIncidents: async () => [],
          listLastRuns: async () => new Map(),
        }),
        sharing: onlyWith<Services['sharing']>(),
        doctor: onlyWith<Services['doctor']>(),
        post: async () => undefined,
        message: undefined,
        modal: undefined,
        now: () => new Date(now),
        panel: setup.panel,
        explain: (error) =>
          explainFailure(error, { kind: 'command', feature: 'test' }, createLogger('silent')),
        signal,
      });
    },
    [Symbol.asyncDispose]: () => cdn.close(),
  };
}

/** A bot without a page for keys. */
export const setup: Setup = {
  keyPage: undefined,
  panel: {
    zone: 'https://panel.example/zone/{id}',
    app: 'https://panel.example/app/{id}',
    script: undefined,
    storage: undefined,
    keys: 'https://panel.example/keys',
  },
};

/** A service of which only these members are there: a test that needs more wants a whole bot. */
function onlyWith<Service extends object>(members: Partial<Service> = {}): Service {
  return new Proxy(members, {
    get(target, name, receiver): unknown {
      if (name in target) return Reflect.get(target, name, receiver);
      throw new Error(`this harness was asked for ${String(name)}`);
    },
  }) as Service;
}

/** Without rows: for commands that only read, and for people who disconnect without a request. */
const emptyDatabase: Services['ledger']['db'] = new Kysely({
  dialect: {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  },
});

/** A workspace with the initial policy, where Slack gives no profiles. */
const policies: Policies = {
  current: async () => initialPolicy,
  version: async () => undefined,
  save: async () => ({ saved: false, meanwhile: undefined }),
  knownPeople: async () => [],
};
/** Names live in a database. */
const noNames = onlyWith<Services['names']>({
  list: async () => [],
  find: async () => undefined,
  resolve: async (_person, _kind, typed) => typed,
  known: async () => [],
  use: async () => undefined,
  channelZone: async () => undefined,
});

const unknownPeople: People = {
  profile: async () => undefined,
  members: async () => [],
  groups: async () => [],
  forget: () => undefined,
  configuredAdmins: [],
  missingScopes: () => [],
};

/** A message, or a view. */
type Drawn = { readonly blocks?: readonly object[] } | undefined;

/** Everything a person would read, blocks joined. */
export function readText(message: Drawn): string {
  const texts: string[] = [];
  collect(message?.blocks ?? [], texts);
  return texts.join('\n');
}

/** The rows of a message's table, without the header, as text; a message without a table has none. */
export function readRows(message: Drawn): string[][] {
  const table = message?.blocks?.find((block) => 'type' in block && block.type === 'data_table');
  const { rows = [] } = (table ?? {}) as { rows?: { text?: string }[][] };
  return rows.slice(1).map((cells) => cells.map(({ text = '' }) => text));
}

/** The buttons of a message, and the entries of its menus of buttons: label → [action id, value]. */
export function buttons(message: Drawn): Map<string, [string, string]> {
  const found = new Map<string, [string, string]>();
  const look = (node: unknown): void => {
    if (Array.isArray(node)) return node.forEach(look);
    if (typeof node !== 'object' || node === null) return;
    const { type, text, action_id: id = '', value = '' } = node as Partial<Pressable>;
    const [, optionId, optionValue] = type === 'button' ? [] : (/^(\w[\w-]*:\S+) ([^]*)$/.exec(value) ?? []);
    const press: [string, string] | undefined =
      type === 'button' ? [id, value] : optionId ? [optionId, optionValue ?? ''] : undefined;
    if (press && typeof text === 'object') {
      if (!found.has(text.text)) found.set(text.text, press);
      return;
    }
    Object.values(node).forEach(look);
  };
  look(message?.blocks ?? []);
  return found;
}

/** A button, or an option whose value is an action id and that action's value. */
interface Pressable {
  readonly type: string;
  readonly text: string | { readonly text: string };
  readonly action_id: string;
  readonly value: string;
}

function createPerson(context: Context): HarnessPerson {
  const run = async (text: string): Promise<Message[]> => {
    const { command, words } = findCommand(parseWords(text));
    if (!command.run) throw new Error(`${command.name} opens a form only`);
    return collectMessages(command.run(words, context));
  };
  const press = async (actionId: string, value: string): Promise<Message[]> => {
    const action = findAction(actionId);
    if (action?.runsCommand) return run(action.toCommand?.(actionId, value) ?? value);
    if (!action?.run) throw new Error(`no action runs for ${actionId}`);
    return collectMessages(action.run(value, context));
  };
  return {
    context,
    run,
    async refuse(text) {
      const failure: unknown = await run(text).catch((error: unknown) => error);
      if (!(failure instanceof UserError)) throw new Error(`${text} was not refused`);
      return failure;
    },
    press,
    async pressIn(message, label) {
      const pressed = buttons(message).get(label);
      if (!pressed) throw new Error(`there is no button ${label}`);
      return press(...pressed);
    },
    async submit(callbackId, fields) {
      const form = findForm(callbackId);
      if (!form) throw new Error(`no form ${callbackId}`);
      const read = form.read(fields, context.now());
      if ('errors' in read) return read;
      const result = await form.run(read.values, context);
      if (!('modal' in result)) return collectMessages(result);
      expect(findViewProblems(result.modal)).toEqual([]);
      expect(findMessageProblems(result.message)).toEqual([]);
      return result;
    },
    async search(pickerId, typed) {
      const options = (await findPicker(pickerId)?.run(typed, context)) ?? [];
      expect(findOptionProblems(options)).toEqual([]);
      return options.map(({ text, value }) => `${text.text} = ${value}`);
    },
  };
}

async function collectMessages(answer: Answer): Promise<Message[]> {
  const settled = await answer;
  const messages: Message[] = [];
  if (Symbol.asyncIterator in settled) for await (const message of settled) messages.push(message);
  else messages.push(settled);
  for (const message of messages) expect(findMessageProblems(message)).toEqual([]);
  return messages;
}

function createMemoryKeyStore(linked: Map<string, Secret>, now: () => Date): KeyStore {
  const describeKey = (): LinkedKey => ({ fingerprint: 'f1a9c0de', linkedAt: now() });
  return onlyWith<KeyStore>({
    link: async (person, key) => {
      linked.set(personKey(person), key);
      return describeKey();
    },
    reveal: async (person) => {
      const key = linked.get(personKey(person));
      return key && { ...describeKey(), version: 1, key };
    },
    describe: async (person) => (linked.has(personKey(person)) ? describeKey() : undefined),
    forget: async (person) => linked.delete(personKey(person)),
  });
}

function collect(node: unknown, texts: string[]): void {
  if (Array.isArray(node)) {
    for (const child of node as KnownBlock[]) collect(child, texts);
  } else if (typeof node === 'object' && node !== null) {
    if ('text' in node && typeof node.text === 'string') texts.push(node.text);
    else if ('user_id' in node) texts.push(`<@${String(node.user_id)}>`);
    else if ('channel_id' in node) texts.push(`<#${String(node.channel_id)}>`);
    else for (const child of Object.values(node)) collect(child, texts);
  }
}
