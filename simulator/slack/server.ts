import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type Actor, createActor } from './actor.ts';
import { type Assistant, createAssistant } from './assistant.ts';
import { createAssistantConversation } from './assistant-conversation.ts';
import { createTimestamps } from './clock.ts';
import { createDeliverer, type Exchange } from './delivery.ts';
import { createHttpTransport } from './delivery-http.ts';
import { createSocketTransport, type SocketTransport } from './delivery-socket.ts';
import { deliverEvent, type EventOptions } from './events.ts';
import { createFiles } from './files.ts';
import type { Route } from './http.ts';
import { createStaticFiles } from './http.ts';
import { createInstalls } from './installs.ts';
import { createInteractions } from './interactions.ts';
import { keepMessages } from './keep.ts';
import type { ToolServer } from './manifest.ts';
import { createMessages } from './messages.ts';
import { createModals } from './modals.ts';
import { createAuthorizePage } from './oauth.ts';
import { createResponseUrls } from './response-urls.ts';
import { createScript, type ScriptControls } from './script.ts';
import { createShortcuts, type DeclaredShortcut } from './shortcuts.ts';
import type { Call, Simulation } from './simulation.ts';
import { runStep, type StepOptions } from './step-runs.ts';
import { createSteps, type DeclaredSteps, type StepRun } from './steps.ts';
import { createTriggers } from './triggers.ts';
import { createUi, type PageWords } from './ui.ts';
import { createViews } from './views.ts';
import { createWebApi } from './web-api/router.ts';
import { createWorld, type Json, type World } from './world.ts';

export interface SlackSimulator {
  /** `http://127.0.0.1:PORT`; the Web API is below `/api/`. */
  readonly url: string;
  readonly world: World;
  readonly workspaces: World['workspaces'];
  readonly signingSecret: string;
  readonly appToken: string;
  /** Acme's. */
  readonly botToken: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** From now on deliveries are signed POSTs to this address; without it they go over Socket Mode. */
  deliverTo(eventsUrl: string): void;
  /** A person by user id; see `Actor`. */
  as(userId: string, channelId?: string, teamId?: string): Actor;
  /** Slack's assistant in its conversation with a person, with the tools of the app, which is at this origin. */
  assistant(
    userId: string,
    options: { origin: string; teamId?: string } & Pick<
      Parameters<typeof createAssistant>[1],
      'era' | 'longestMs' | 'consent'
    >,
  ): Assistant;
  /** From now on the page has a conversation with Slack's assistant, which calls the tools of the app at this origin. */
  serveTools(origin: string): void;
  readonly calls: Call[];
  /** Resolves with a call of a method, whether it came already or will. */
  called(method: string, timeoutMs?: number): Promise<Call>;
  /** Every broken limit and protocol rule, in words; tests assert that there is none. */
  readonly problems: string[];
  readonly script: ScriptControls;
  readonly socket: {
    connections(): number;
    /** Tells the oldest connection to go; resolves when it has. */
    refresh: SocketTransport['refresh'];
    /** Sends a frame of any shape on one connection. */
    send(envelope: object): void;
    /** Cuts all connections. */
    kill(): void;
    /** Resolves when at least so many connections are open. */
    waitFor(connections: number, timeoutMs?: number): Promise<void>;
  };
  event(event: object, options?: EventOptions): Promise<Exchange>;
  /** Runs a step of Workflow Builder; resolves when the app has acknowledged it, or not. */
  step(callbackId: string, inputs: object, options?: StepOptions): Promise<Step>;
  /** Sends the last delivery once more, the same to the letter, as Slack does when an acknowledgement got lost. */
  redeliver(): Promise<Exchange>;
  close(): Promise<void>;
}

export interface Step extends StepRun {
  readonly exchange: Exchange;
  /** How the app ended it, once it has. */
  readonly ended: (timeoutMs?: number) => Promise<NonNullable<StepRun['end']>>;
}

/**
 * Starts a Slack on 127.0.0.1 that speaks the real protocols and holds the app to their rules.
 * `now` drives trigger ids, response_urls, codes and timestamps; `ackTimeoutMs` is measured in real time.
 * `page` is a directory of static files for `/`; `hints`, `commands` and `samples` are passed on to it. With the `shortcuts` of the
 * manifest nobody finds another, and with its `steps` nobody runs another; its `scopes` are in the header of every answer, but for those that are withheld. In the
 * directory `keep` messages and files survive an end.
 */
export async function startSlack(
  options: {
    port?: number;
    /** Its other hosts as Slack has them, where a server with TLS is in front: of files, answers and WebSockets. */
    addresses?: Readonly<Record<'files' | 'hooks' | 'sockets', string>>;
    now?: () => number;
    /** The clock by which requests are signed, where that of the app was moved. */
    signsAt?: () => number;
    ackTimeoutMs?: number;
    page?: string;
    keep?: string;
    shortcuts?: readonly DeclaredShortcut[];
    steps?: DeclaredSteps;
    scopes?: readonly string[];
    /** The events that the manifest subscribes to: no other is sent. All without it. */
    events?: readonly string[];
    /** The manifest's entry for Slack's assistant; without it nobody is offered tools. */
    server?: ToolServer;
  } & PageWords = {},
): Promise<SlackSimulator> {
  const now = options.now ?? Date.now;
  const { signsAt = Date.now } = options;
  const signingSecret = '51309a7ed5190c5ec4e7000000000000';
  const world = createWorld();
  const problems: string[] = [];
  const calls: Call[] = [];
  const problem = (text: string): void => void problems.push(text);
  const listeners = new Set<() => void>();
  const notifyListeners = (): void => {
    for (const listener of listeners) listener();
  };
  const onChange = (listener: () => void): (() => void) => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  };
  let address = '';
  const base = (): string => address;
  const { addresses } = options;
  const record =
    (method: string) => (call: { install: { id: string }; args: Json; ok: boolean; error?: string }) => {
      const { install, args, ok, error } = call;
      calls.push({
        method,
        teamId: install.id,
        token: 'none',
        args,
        at: now(),
        ok,
        ...(error === undefined ? {} : { error }),
      });
    };

  const installs = createInstalls(world);
  const script = createScript(installs);
  const files = createFiles({
    base: () => addresses?.files ?? address,
    problem,
    script,
    called: record('files.upload'),
    keep: options.keep && join(options.keep, 'files'),
    mayRead: (request, file) => request.headers.authorization === `Bearer ${file.install.token}`,
  });
  const messages = createMessages({
    world,
    timestamp: createTimestamps(now),
    changed: notifyListeners,
    fileOf: files.visible,
  });
  const views = createViews({ world, now, names: messages.names, changed: notifyListeners });
  const http = createHttpTransport({ signingSecret, signsAt });
  const socket = createSocketTransport({ problem, changed: notifyListeners });
  const deliverer = createDeliverer({
    http,
    socket,
    ackTimeoutMs: options.ackTimeoutMs ?? 3000,
    problem,
    changed: notifyListeners,
  });
  const responseUrls = createResponseUrls({
    base: () => addresses?.hooks ?? address,
    now,
    messages,
    problem,
    called: record('response_url'),
    script,
  });
  const sim: Simulation = {
    now,
    base,
    socketBase: addresses?.sockets,
    redirectUrl: () =>
      http.address === undefined ? undefined : new URL('/slack/oauth_redirect', http.address).href,
    appToken: 'xapp-simulated',
    clientId: '1000.2000',
    clientSecret: 'simulated-client-secret',
    world,
    installs,
    messages,
    views,
    triggers: createTriggers(now),
    responseUrls,
    files,
    steps: createSteps(options.steps),
    script,
    socket,
    deliverer,
    events: options.events,
    calls,
    problem,
    notices: new Map(),
    changed: notifyListeners,
    onChange,
  };
  const kept = options.keep ? await keepMessages(sim, join(options.keep, 'messages.json')) : undefined;
  const interactions = createInteractions(sim);
  const parts = {
    interactions,
    modals: createModals(sim, interactions),
    shortcuts: createShortcuts(sim, interactions, options.shortcuts),
  };
  let conversation: ReturnType<typeof createAssistantConversation> | undefined;
  const ui = createUi(sim, parts, options, () => conversation);
  const routes: Route[] = [
    createWebApi(sim, options.scopes),
    responseUrls.route,
    files.route,
    ui.route,
    createAuthorizePage(sim),
    createStaticFiles(options.page),
  ];
  const server = createServer((request, response) => {
    if ('traceparent' in request.headers) problem(`${request.url}: Slack was told the id of a trace`);
    void serve(routes, request, response);
  });
  socket.attach(server);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port ?? 0, '127.0.0.1', resolve);
  });
  address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  /** The manifest's entry, whose host is to be filled in, where the app was installed with its scope. */
  const serverAt = (origin: string, teamId: string): ToolServer | undefined => {
    const isGranted =
      options.scopes?.includes('mcp:connect') && !installs.forTeam(teamId)?.lacks.has('mcp:connect');
    if (!options.server || !isGranted) return undefined;
    return { ...options.server, url: new URL(new URL(options.server.url).pathname, origin).href };
  };

  return {
    url: address,
    world,
    workspaces: world.workspaces,
    signingSecret,
    appToken: sim.appToken,
    botToken: world.workspaces.acme.botToken,
    clientId: sim.clientId,
    clientSecret: sim.clientSecret,
    deliverTo(eventsUrl) {
      http.address = eventsUrl;
      deliverer.useHttp(true);
    },
    as: (userId, channelId, teamId) => createActor(sim, parts, { userId, channelId, teamId }),
    assistant(userId, { origin, teamId = world.workspaces.acme.id, ...more }) {
      const enterpriseId = world.team(teamId)?.enterpriseId;
      const organisation = enterpriseId === undefined ? {} : { enterprise_id: enterpriseId };
      const person = { user_id: userId, team_id: teamId, ...organisation };
      const server = serverAt(origin, teamId);
      return createAssistant(sim, { ...more, server, signingSecret, signsAt, person });
    },
    serveTools(origin) {
      const server = serverAt(origin, world.workspaces.acme.id);
      conversation = createAssistantConversation(sim, { signingSecret, server });
    },
    calls,
    called: (method, timeoutMs = 5000) => waitForCall(sim, method, timeoutMs),
    problems,
    script: script.controls,
    socket: {
      connections: socket.connections,
      refresh: socket.refresh,
      send: socket.sendRaw,
      kill: socket.kill,
      waitFor: (wanted, timeoutMs = 5000) => waitForConnections(sim, wanted, timeoutMs),
    },
    async step(callbackId, inputs, stepOptions) {
      const run = await runStep(sim, callbackId, inputs as Json, stepOptions);
      return Object.assign(run, { ended: (timeoutMs = 5000) => waitForEnd(sim, run, timeoutMs) });
    },
    event: (event, eventOptions) => deliverEvent(sim, event as Json, eventOptions),
    redeliver: deliverer.redeliver,
    async close() {
      ui.close();
      await conversation?.close();
      socket.close();
      http.close();
      const closed = new Promise<void>((resolve) => void server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
      await kept?.close();
      await files.close();
    },
  };
}

async function serve(
  routes: readonly Route[],
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://slack');
  try {
    for (const route of routes) if (await route(request, response, url)) return;
    response.writeHead(404, { 'content-type': 'text/plain' }).end('not found');
  } catch (error) {
    // A bug of the simulator itself: loud, so that it is not searched for in the bot.
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    if (response.headersSent) response.destroy();
    else response.writeHead(500, { 'content-type': 'text/plain' }).end(`simulator: ${text}`);
  }
}

function waitForCall(sim: Simulation, method: string, timeoutMs: number): Promise<Call> {
  const find = () => sim.calls.find((call) => call.method === method);
  return waitFor(sim, find, timeoutMs, () => `nobody called ${method}`);
}

function waitForConnections(sim: Simulation, wanted: number, timeoutMs: number): Promise<void> {
  const find = () => (sim.socket.connections() >= wanted ? true : undefined);
  const say = () => `${sim.socket.connections()} of ${wanted} Socket Mode connections are open`;
  return waitFor(sim, find, timeoutMs, say).then(() => undefined);
}

function waitForEnd(sim: Simulation, run: StepRun, timeoutMs: number): ReturnType<Step['ended']> {
  return waitFor(
    sim,
    () => run.end,
    timeoutMs,
    () => `nobody completed the step ${run.callbackId}`,
  );
}

/** Looks now and after every change, until the time is over. */
function waitFor<T>(
  sim: Simulation,
  find: () => T | undefined,
  timeoutMs: number,
  say: () => string,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const look = (): boolean => {
      const found = find();
      if (found !== undefined) resolve(found);
      return found !== undefined;
    };
    if (look()) return;
    const timer = setTimeout(() => {
      stop();
      reject(new Error(`${say()} after ${timeoutMs} ms`));
    }, timeoutMs);
    const stop = sim.onChange(() => {
      if (!look()) return;
      clearTimeout(timer);
      stop();
    });
  });
}
