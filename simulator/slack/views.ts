import { randomBytes } from 'node:crypto';
import { assignIds, findElements } from './block-ids.ts';
import { newId } from './clock.ts';
import { type StateValues, stateValues } from './element-state.ts';
import { type Names, readsOf } from './reads.ts';
import type { TriggerOrigin } from './triggers.ts';
import { type Json, memberKey, type World } from './world.ts';

/** A view that is open: a modal in a person's stack, or their Home tab. */
export interface OpenView {
  readonly id: string;
  readonly installTeamId: string;
  readonly teamId: string;
  readonly userId: string;
  readonly rootId: string;
  readonly previousId: string | undefined;
  definition: Json;
  typed: StateValues;
  hash: string;
  errors: Record<string, string> | undefined;
}

/** A view as Slack sends it, with what the person sees beside it. */
export interface VisibleView extends Json {
  id: string;
  type: string;
  callback_id: string;
  blocks: Json[];
  hash: string;
  state: { values: StateValues };
  errors?: Record<string, string>;
  reads: string;
}

type Who = { teamId: string; userId: string };

export interface Views {
  stack(who: Who): OpenView[];
  home(who: Who): OpenView | undefined;
  /** Opens on top of what is open; three is the most (`push_limit_reached`). */
  open(origin: TriggerOrigin, definition: Json): OpenView | 'push_limit_reached';
  update(view: OpenView, definition: Json): void;
  publish(who: Who & { installTeamId: string }, definition: Json): OpenView;
  find(match: (view: OpenView) => boolean): OpenView | undefined;
  close(view: OpenView): void;
  /** As Slack puts it into payloads and answers. */
  wire(view: OpenView): Json;
  readonly visible: (view: OpenView) => VisibleView;
}

const deepest = 3;

/** The modals and Home tabs of the simulated Slack. */
export function createViews(options: {
  world: World;
  now: () => number;
  names: Names;
  changed: () => void;
}): Views {
  const { world, changed } = options;
  let modals: OpenView[] = [];
  const homes = new Map<string, OpenView>();

  function stack(who: Who): OpenView[] {
    return modals.filter((view) => view.teamId === who.teamId && view.userId === who.userId);
  }

  function make(
    who: Who & { installTeamId: string },
    definition: Json,
    below: OpenView | undefined,
  ): OpenView {
    const id = newId('V');
    return {
      id,
      installTeamId: who.installTeamId,
      teamId: who.teamId,
      userId: who.userId,
      rootId: below?.rootId ?? id,
      previousId: below?.id,
      definition: withBlockIds(definition),
      typed: {},
      hash: newHash(options.now()),
      errors: undefined,
    };
  }

  function replace(view: OpenView, definition: Json): void {
    view.definition = withBlockIds(definition);
    view.typed = stillFitting(view);
    view.hash = newHash(options.now());
    view.errors = undefined;
    changed();
  }

  function wire(view: OpenView): Json {
    const { definition } = view;
    const bot = world.team(view.installTeamId);
    const shared = {
      private_metadata: '',
      callback_id: '',
      external_id: '',
      clear_on_close: false,
      notify_on_close: false,
    };
    return {
      id: view.id,
      team_id: view.teamId,
      app_id: 'A0CDNAPP0',
      app_installed_team_id: view.installTeamId,
      bot_id: bot?.botId ?? '',
      title: null,
      submit: null,
      close: null,
      ...shared,
      ...definition,
      state: { values: stateValues(definition['blocks'] as Json[], view.typed) },
      hash: view.hash,
      previous_view_id: view.previousId ?? null,
      root_view_id: view.rootId,
    };
  }

  return {
    stack,
    home: (who) => homes.get(memberKey(who.teamId, who.userId)),
    open(origin, definition) {
      const below = stack(origin);
      if (below.length >= deepest) return 'push_limit_reached';
      const view = make(origin, definition, below.at(-1));
      modals.push(view);
      changed();
      return view;
    },
    update: replace,
    publish(who, definition) {
      const key = memberKey(who.teamId, who.userId);
      const known = homes.get(key);
      if (known) {
        replace(known, definition);
        return known;
      }
      const view = make(who, definition, undefined);
      homes.set(key, view);
      changed();
      return view;
    },
    find: (match) => [...modals, ...homes.values()].find(match),
    close(view) {
      modals = modals.filter((other) => other !== view);
      changed();
    },
    wire,
    visible(view) {
      const reads = readsOf(view.definition, options.names);
      const errors = view.errors === undefined ? {} : { errors: view.errors };
      const read = [reads, ...Object.values(view.errors ?? {})].join('\n');
      return { ...wire(view), ...errors, reads: read } as VisibleView;
    },
  };
}

function withBlockIds(definition: Json): Json {
  return { ...definition, blocks: assignIds((definition['blocks'] as Json[] | undefined) ?? []) };
}

function newHash(now: number): string {
  return `${Math.floor(now / 1000)}.${randomBytes(6).toString('base64url')}`;
}

/** Typed values of the inputs that an update kept; removed inputs lose theirs even if they come back later. */
function stillFitting({ definition, typed }: OpenView): StateValues {
  const fitting: StateValues = {};
  for (const { block, element } of findElements(definition['blocks'] as Json[])) {
    const [blockId, actionId] = [String(block['block_id']), String(element['action_id'])];
    const value = typed[blockId]?.[actionId];
    if (value) fitting[blockId] = { ...fitting[blockId], [actionId]: value };
  }
  return fitting;
}
