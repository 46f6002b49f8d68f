import type { ServerResponse } from 'node:http';
import { assistantChannel, type createAssistantConversation } from './assistant-conversation.ts';
import { findElements } from './block-ids.ts';
import { type Route, readArguments, readBody, sendJson } from './http.ts';
import type { Interactions } from './interactions.ts';
import type { Modals } from './modals.ts';
import type { Who } from './payloads.ts';
import type { Place, Target } from './places.ts';
import type { DeclaredCommand, Shortcuts } from './shortcuts.ts';
import type { Simulation } from './simulation.ts';
import { runStep } from './step-runs.ts';
import type { OpenView } from './views.ts';
import { isObject, type Json, memberKey, textOf } from './world.ts';
import { escapeTyped, write } from './writing.ts';

/** Texts of the page itself. */
export interface PageWords {
  /** First steps that are still to be taken. `did`: what people typed and pressed so far. */
  hints?: (did: readonly string[]) => readonly string[];
  commands?: readonly DeclaredCommand[];
  /** What stands in the inputs of steps, by name. */
  samples?: Readonly<Record<string, string>>;
  /** Charts and tables are taken again. */
  onTaken?: () => void;
}

/** The browser's API (`/ui/*`): the person's view, their actions, and a stream of change events. */
export function createUi(
  sim: Simulation,
  parts: { interactions: Interactions; modals: Modals; shortcuts: Shortcuts },
  page: PageWords,
  assistant: () => ReturnType<typeof createAssistantConversation> | undefined,
): { route: Route; close(): void } {
  const { interactions, modals, shortcuts } = parts;
  const streams = new Set<ServerResponse>();
  let changes = 0;
  let wordsOnly = false;
  const did: string[] = [];
  // Many changes in one turn are one line in the stream.
  let scheduled = false;
  const stop = sim.onChange(() => {
    if (scheduled) return;
    scheduled = true;
    setImmediate(() => {
      scheduled = false;
      changes += 1;
      for (const stream of streams) stream.write(`data: {"n":${changes}}\n\n`);
    });
  });

  const actions: Record<string, (args: Json, who: Who) => Promise<unknown>> = {
    slash: (args, who) => {
      did.push(text(args, 'text'));
      const [command, ...words] = text(args, 'text').split(' ');
      if (command === '/invite') return invite(who, text(args, 'channel'), words.join(' '));
      const typed = command?.startsWith('/')
        ? { command, rest: words.join(' ') }
        : { command: '/cdn', rest: text(args, 'text') };
      return interactions.slash(who, text(args, 'channel'), typed.rest, typed.command);
    },
    async press(args, who) {
      const found = placeOf(args, who);
      if (typeof found.target.element['value'] === 'string') did.push(found.target.element['value']);
      if ('message' in found.place && found.place.message.channel === assistantChannel)
        return assistant()?.press(who, found.place.message, found.target.element);
      // Typed values travel with a press inside a modal.
      if ('view' in found.place && isObject(args['state'])) modals.type(found.place.view, args['state']);
      return interactions.press(
        who,
        found.place,
        found.target,
        typeof args['value'] === 'string' ? args['value'] : undefined,
      );
    },
    async choose(args, who) {
      const found = placeOf(args, who);
      if ('message' in found.place && found.place.message.channel === assistantChannel)
        return assistant()?.press(who, found.place.message, {
          ...found.target.element,
          value: text(args, 'value'),
        });
      return interactions.choose(who, found.place, found.target, args['values'] ?? args['value']);
    },
    suggest(args, who) {
      const found = placeOf(args, who);
      return interactions.suggest(
        who,
        found.place,
        found.target,
        typeof args['typed'] === 'string' ? args['typed'] : '',
      );
    },
    submit: (args, who) => modals.submit(who, viewOf(args, who), (args['values'] ?? {}) as Json),
    async 'close-modal'(args, who) {
      await modals.close(who, viewOf(args, who));
      return {};
    },
    home: (_args, who) => interactions.openHome(who),
    async say(args, who) {
      did.push(text(args, 'text'));
      if (text(args, 'channel') === assistantChannel) return assistant()?.say(who, text(args, 'text'));
      const { message } = write(sim, who, {
        channel: text(args, 'channel'),
        text: escapeTyped(text(args, 'text'), who.install.botUserId),
        thread: typeof args['thread'] === 'string' ? args['thread'] : undefined,
      });
      return { ts: message.ts };
    },
    // Charts and tables are refused from now on, as some plans do, or taken again.
    async 'words-only'(args) {
      wordsOnly = args['on'] === true;
      sim.script.controls.refuseNativeBlocks(wordsOnly ? ['*'] : []);
      if (!wordsOnly) page.onTaken?.();
      sim.changed();
      return {};
    },
    // A workflow of one step; its author shows the person what came of it.
    async step(args, who) {
      const id = text(args, 'callbackId');
      const inputs = Object.entries(isObject(args['inputs']) ? args['inputs'] : {}).filter(
        ([, value]) => value !== '',
      );
      const run = await runStep(sim, id, Object.fromEntries(inputs), { by: who.person.id });
      const tell = (): void => {
        const { end } = run;
        if (!end) return;
        stopLooking();
        const told = 'error' in end ? end.error : textOf(end.outputs['summary']);
        interactions.notice(who, `Workflow “${run.declared.title}”: ${told}`);
      };
      const stopLooking = sim.onChange(tell);
      tell();
      return {};
    },
    async shortcut(args, who) {
      const callbackId = text(args, 'callbackId');
      if (typeof args['ts'] !== 'string') return shortcuts.global(who, callbackId);
      const message = sim.messages.find(text(args, 'channel'), args['ts']);
      if (!message) throw new Error('This message is no longer there');
      return shortcuts.message(who, callbackId, message);
    },
  };

  /** Slack's own command; the bot alone can be invited here. */
  async function invite(who: Who, id: string, words: string): Promise<Json> {
    const channel = sim.world.channels.get(id);
    if (!channel) throw new Error(`There is no channel ${id}`);
    const isBot = channel.kind === 'channel' && words.trim().toLowerCase() === '@cdn';
    if (isBot) channel.botIsMember = true;
    interactions.notice(who, isBot ? 'cdn was added to this channel.' : 'Only @cdn can be invited here.');
    return {};
  }

  function viewOf(args: Json, who: Who): OpenView {
    const self = { teamId: who.person.teamId, userId: who.person.id };
    const home = sim.views.home(self);
    const view = [...sim.views.stack(self), ...(home ? [home] : [])].find(
      (open) => open.id === args['viewId'],
    );
    if (!view) throw new Error('This view is no longer open');
    return view;
  }

  function placeOf(args: Json, who: Who): { place: Place; target: Target } {
    const view = typeof args['viewId'] === 'string' ? viewOf(args, who) : undefined;
    const message = view ? undefined : sim.messages.find(text(args, 'channel'), text(args, 'ts'));
    const blocks = view ? (view.definition['blocks'] as Json[]) : message?.blocks;
    const target = findElements(blocks ?? []).find(
      ({ block, element }) =>
        block['block_id'] === args['blockId'] && element['action_id'] === args['actionId'],
    );
    if (!target || !(view ?? message)) throw new Error('This is no longer there');
    return { place: view ? { view } : { message: message as NonNullable<typeof message> }, target };
  }

  function world(user: string | null): Json {
    const { acme } = sim.world.workspaces;
    const visible = [...sim.world.channels.values()].filter(
      (channel) => channel.teamId === acme.id && channel.kind === 'channel',
    );
    const inAcme = new Set(visible.flatMap((channel) => [...channel.members]));
    const people = sim.world.people.filter((person) => inAcme.has(memberKey(person.teamId, person.id)));
    const dms = people.map((person) => ({
      id: sim.world.dm(person.id, acme.id).id,
      name: 'CDN',
      kind: 'dm',
      user: person.id,
    }));
    const channels = visible.map(({ id, name, kind, members, shared }) => ({
      id,
      name,
      kind,
      shared,
      members: [...members].map((key) => key.split('/')[1] ?? ''),
    }));
    const mine = [...channels, ...dms].filter(
      (place) => user === null || ('members' in place ? place.members.includes(user) : place.user === user),
    );
    return {
      people: people.map(({ id, realName, role, teamId }) => ({
        id,
        name: realName,
        role,
        teamId,
        team: sim.world.team(teamId)?.name ?? teamId,
      })),
      channels: mine,
      bot: { id: acme.botUserId, name: 'cdn' },
      transport: sim.deliverer.transport(),
      steps: Object.entries(sim.steps.declared).map(
        ([id, { title, description, input_parameters: inputs }]) => ({
          callbackId: id,
          name: title,
          description,
          fields: Object.entries(inputs.properties)
            .filter(([, { type }]) => type === 'string')
            .map(([name, field]) => ({
              name,
              title: field.title,
              hint: field.description,
              required: inputs.required?.includes(name) ?? false,
              value: page.samples?.[name] ?? '',
            })),
        }),
      ),
      commands: page.commands ?? [],
      shortcuts: shortcuts.declared,
    };
  }

  function state(who: Who, channel: string): Json {
    const self = { teamId: who.person.teamId, userId: who.person.id };
    const home = sim.views.home(self);
    return {
      messages: sim.messages.visibleTo(self, channel),
      modals: sim.views.stack(self).map(sim.views.visible),
      home: home ? sim.views.visible(home) : null,
      pending: sim.deliverer.pending(),
      wordsOnly,
      hints: page.hints?.(did) ?? [],
      notices: sim.notices.get(memberKey(self.teamId, self.userId)) ?? [],
    };
  }

  const route: Route = async (request, response, url) => {
    if (!url.pathname.startsWith('/ui/')) return false;
    const name = url.pathname.slice('/ui/'.length);
    const query = url.searchParams;
    try {
      if (request.method === 'GET' && name === 'world') sendJson(response, world(query.get('user')));
      else if (request.method === 'GET' && name === 'state') {
        const channel = query.get('channel') ?? '';
        sendJson(response, state(interactions.who(query.get('user') ?? '', channel), channel));
      } else if (request.method === 'GET' && name === 'changes') {
        response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
        response.write(`data: {"n":${changes}}\n\n`);
        streams.add(response);
        response.on('close', () => streams.delete(response));
      } else {
        const action = request.method === 'POST' ? actions[name] : undefined;
        if (!action) return false;
        const args = readArguments(request, (await readBody(request)).toString(), url);
        const channel = typeof args['channel'] === 'string' ? args['channel'] : undefined;
        sendJson(response, await action(args, interactions.who(text(args, 'user'), channel)));
      }
    } catch (error) {
      sendJson(response, { error: error instanceof Error ? error.message : String(error) }, 400);
    }
    return true;
  };

  return {
    route,
    close() {
      stop();
      for (const stream of streams) stream.end();
    },
  };
}

function text(args: Json, name: string): string {
  const value = args[name];
  if (typeof value !== 'string') throw new Error(`${name} is missing`);
  return value;
}
