import { findElements } from './block-ids.ts';
import type { Exchange } from './delivery.ts';
import type { Interactions } from './interactions.ts';
import type { VisibleMessage } from './messages.ts';
import type { Modals, Submission } from './modals.ts';
import type { Place, Target } from './places.ts';
import type { Shortcuts } from './shortcuts.ts';
import type { Simulation } from './simulation.ts';
import type { OpenView, VisibleView } from './views.ts';
import type { Json } from './world.ts';
import { type Written, write } from './writing.ts';

type MessageMatch = string | RegExp | ((message: VisibleMessage) => boolean);
/** Text in what the modal shows, its callback_id, or a test of it. */
type ModalMatch = string | RegExp | ((view: VisibleView) => boolean);

/** A person at work in the simulated Slack. */
export interface Actor {
  slash(text: string, options?: { command?: string }): Promise<Exchange>;
  /**
   * Writes a message in the channel or, by the `ts` of its first message, in a thread; text as Slack keeps it:
   * `<https://…>`, `&amp;`. The app hears of a mention, and of what is written in the conversation with it.
   */
  say(
    text: string,
    options?: { blocks?: Json[]; attachments?: Json[]; thread?: string; subtype?: Written['subtype'] },
  ): VisibleMessage & { readonly heard: Promise<Exchange | undefined> };
  /** Chooses from the ⚡ menu, or from the menu of the message with this `ts`. */
  shortcut(callbackId: string, options?: { ts: string }): Promise<Exchange>;
  /** Presses the button in the top modal, else in the newest message that has it, else in the Home tab. */
  press(actionId: string, options?: { ts?: string; value?: string }): Promise<Exchange>;
  choose(actionId: string, value: string | string[], options?: { ts?: string }): Promise<Exchange>;
  type(values: Record<string, unknown>): void;
  submit(values?: Record<string, unknown>): Promise<Submission>;
  closeModal(): Promise<void>;
  suggest(actionId: string, typed: string, options?: { ts?: string }): Promise<Json[]>;
  openHome(): Promise<void>;
  messages(): VisibleMessage[];
  modal(): VisibleView | undefined;
  modals(): VisibleView[];
  home(): VisibleView | undefined;
  /** Notices of Slack itself, such as that the app did not respond. */
  notices(): string[];
  waitForMessage(match: MessageMatch, timeoutMs?: number): Promise<VisibleMessage>;
  waitForModal(match: ModalMatch, timeoutMs?: number): Promise<VisibleView>;
  waitForHome(match: ModalMatch, timeoutMs?: number): Promise<VisibleView>;
}

const patienceMs = 5000;

/** A person by user id. With a channel they see and act in it; without one they type in #ops and see everything. */
export function createActor(
  sim: Simulation,
  parts: { interactions: Interactions; modals: Modals; shortcuts: Shortcuts },
  where: { userId: string; channelId?: string | undefined; teamId?: string | undefined },
): Actor {
  const { interactions, modals, shortcuts } = parts;
  const who = interactions.who(where.userId, where.channelId, where.teamId);
  const self = { teamId: who.person.teamId, userId: who.person.id };
  const typingIn = where.channelId ?? firstChannel(sim, self);

  const messages = (): VisibleMessage[] => sim.messages.visibleTo(self, where.channelId);
  const stack = (): OpenView[] => sim.views.stack(self);

  function top(): OpenView {
    const view = stack().at(-1);
    if (!view) throw new Error(`${who.person.name} has no modal open`);
    return view;
  }

  function target(
    actionId: string,
    ts?: string,
    value?: string,
    isMeant: (element: Json) => boolean = () => true,
  ): { place: Place; target: Target } {
    const places: { place: Place; blocks: Json[] }[] = [];
    const view = stack().at(-1);
    const home = sim.views.home(self);
    if (view && ts === undefined)
      places.push({ place: { view }, blocks: view.definition['blocks'] as Json[] });
    for (const message of messages().toReversed()) {
      const stored = sim.messages.find(message.channel, message.ts);
      if (stored && (ts === undefined || ts === message.ts))
        places.push({ place: { message: stored }, blocks: stored.blocks });
    }
    if (home && ts === undefined)
      places.push({ place: { view: home }, blocks: home.definition['blocks'] as Json[] });
    for (const { place, blocks } of places) {
      const found = findElements(blocks).filter(
        ({ element }) => element['action_id'] === actionId && isMeant(element),
      );
      // Rows of a list may repeat an action_id; the value says which of them is meant.
      const chosen = found.find(({ element }) => element['value'] === value) ?? found[0];
      if (chosen) return { place, target: chosen };
    }
    const known = places.flatMap(({ blocks }) =>
      findElements(blocks).map(({ element }) => String(element['action_id'])),
    );
    throw new Error(
      `${who.person.name} sees nothing with the action_id ${actionId}; there is: ${[...new Set(known)].join(', ') || 'nothing'}`,
    );
  }

  /** Looks now and after every change, until the time is over. */
  function wait<T>(look: () => T | undefined, timeoutMs: number, failed: () => string): Promise<T> {
    return new Promise((resolve, reject) => {
      const attempt = (): boolean => {
        const found = look();
        if (found === undefined) return false;
        resolve(found);
        return true;
      };
      if (attempt()) return;
      const timer = setTimeout(() => {
        stop();
        reject(new Error(failed()));
      }, timeoutMs);
      const stop = sim.onChange(() => {
        if (!attempt()) return;
        clearTimeout(timer);
        stop();
      });
    });
  }

  const describeSight = (): string => {
    const shown = messages().map((message) => `- ${message.reads || message.text}`);
    const notices = (sim.notices.get(`${self.teamId}/${self.userId}`) ?? []).map(
      (text) => `- (Slack) ${text}`,
    );
    const open = stack().map((view) => `- (modal) ${sim.views.visible(view).reads}`);
    return [...shown, ...notices, ...open].join('\n') || '- nothing';
  };
  const waitForView = (
    look: () => OpenView | undefined,
    match: ModalMatch,
    timeoutMs: number,
    what: string,
  ): Promise<VisibleView> =>
    wait(
      () => {
        const view = look();
        const visible = view && sim.views.visible(view);
        return visible && viewMatches(visible, match) ? visible : undefined;
      },
      timeoutMs,
      () =>
        `No ${what} matching ${String(match)} came within ${timeoutMs} ms. ${who.person.name} sees:\n${describeSight()}`,
    );

  return {
    slash: (text, options) => interactions.slash(who, typingIn, text, options?.command),
    say(text, options) {
      const { message, heard } = write(sim, who, { channel: typingIn, text, ...options });
      return { ...(messages().find(({ ts }) => ts === message.ts) as VisibleMessage), heard };
    },
    async shortcut(callbackId, options) {
      if (options === undefined) return await shortcuts.global(who, callbackId);
      const message = messages().find(({ ts }) => ts === options.ts);
      const stored = message && sim.messages.find(message.channel, message.ts);
      if (!stored) throw new Error(`${who.person.name} sees no message ${options.ts}`);
      return await shortcuts.message(who, callbackId, stored);
    },
    async press(actionId, options) {
      const found = target(actionId, options?.ts, options?.value);
      return await interactions.press(who, found.place, found.target, options?.value);
    },
    async choose(actionId, value, options) {
      // Menus of several messages have one action_id: the one that has this option is meant.
      const has = (element: Json): boolean => hasOption(element, value);
      const found =
        find(() => target(actionId, options?.ts, undefined, has)) ?? target(actionId, options?.ts);
      return await interactions.choose(who, found.place, found.target, value);
    },
    type: (values) => modals.type(top(), values),
    submit: (values) => modals.submit(who, top(), values),
    closeModal: () => modals.close(who, top()),
    async suggest(actionId, typed, options) {
      const found = target(actionId, options?.ts);
      const suggested = await interactions.suggest(who, found.place, found.target, typed);
      return (
        suggested.options ?? (suggested.option_groups ?? []).flatMap((group) => group['options'] as Json[])
      );
    },
    async openHome() {
      await interactions.openHome(who);
    },
    messages,
    modal: () => stack().map(sim.views.visible).at(-1),
    modals: () => stack().map(sim.views.visible),
    home() {
      const home = sim.views.home(self);
      return home && sim.views.visible(home);
    },
    notices: () => [...(sim.notices.get(`${self.teamId}/${self.userId}`) ?? [])],
    waitForMessage: (match, timeoutMs = patienceMs) =>
      wait(
        () => messages().findLast((message) => messageMatches(message, match)),
        timeoutMs,
        () =>
          `No message matching ${String(match)} came within ${timeoutMs} ms. ${who.person.name} sees:\n${describeSight()}`,
      ),
    waitForModal: (match, timeoutMs = patienceMs) =>
      waitForView(() => stack().at(-1), match, timeoutMs, 'modal'),
    waitForHome: (match, timeoutMs = patienceMs) =>
      waitForView(() => sim.views.home(self), match, timeoutMs, 'Home tab'),
  };
}

function messageMatches(message: VisibleMessage, match: MessageMatch): boolean {
  if (typeof match === 'function') return match(message);
  if (typeof match === 'string') return message.reads.includes(match) || message.text.includes(match);
  return match.test(message.reads) || match.test(message.text);
}

function viewMatches(view: VisibleView, match: ModalMatch): boolean {
  if (typeof match === 'function') return match(view);
  if (typeof match === 'string') return view.reads.includes(match) || view.callback_id === match;
  return match.test(view.reads) || match.test(view.callback_id);
}

function firstChannel(sim: Simulation, self: { teamId: string; userId: string }): string {
  for (const channel of sim.world.channels.values()) {
    if (channel.members.has(`${self.teamId}/${self.userId}`)) return channel.id;
  }
  throw new Error(`${self.userId} is in no channel`);
}

/** Whether a menu has this option, or loads its options elsewhere. */
function hasOption(element: Json, value: string | string[]): boolean {
  const groups = (element['option_groups'] ?? []) as { options: Json[] }[];
  const options = [...((element['options'] ?? []) as Json[]), ...groups.flatMap((group) => group.options)];
  return options.length === 0 || options.some((option) => [value].flat().includes(String(option['value'])));
}

function find<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}
