import { canary } from '../../../simulator/cdn/canaries.ts';
import type { Actor } from '../../../simulator/slack/actor.ts';
import { findElements } from '../../../simulator/slack/block-ids.ts';
import type { Json } from '../../../simulator/slack/world.ts';
import { readChoice } from '../../../src/views/blocks/buttons.ts';
import { isNote } from '../../../src/views/blocks/menu.ts';
import type { CanaryBot } from './bot.ts';

/** Fields whose text is there to be read by others. Any other text field counts as a secret one. */
const shownFields = new Set([
  'reason',
  'link',
  'query',
  'search',
  'origin',
  'host',
  'storage',
  'filters',
  'target',
  'shieldZoneId',
  'appId',
  'volumeId',
  'scriptId',
  'variableId',
  'confirmVolumeId',
  'expiryMinutes',
  'destroyApprovals',
  'changeApprovals',
  'exportKeepDays',
  'id',
  'name',
]);
const shownValues: Record<string, string> = {
  scriptId: '301',
  variableId: '12',
  shieldZoneId: '501',
  id: 'app0api00000001',
  expiryMinutes: '30',
  filters: 'country in DE',
};

/** How often a button of one kind is pressed: a list has many rows. */
const mostOfAKind = 3;
const mostSteps = 120;

/** What was done, so that a test can say that something was. */
export interface CrawlLog {
  readonly pressed: Set<string>;
  readonly submitted: Set<string>;
  readonly searched: Set<string>;
}

export function createCrawlLog(): CrawlLog {
  return { pressed: new Set(), submitted: new Set(), searched: new Set() };
}

/** Presses every button that is shown, chooses in every menu, fills in and sends every form, until there is nothing new. */
export async function crawl(
  bot: CanaryBot,
  person: Actor,
  done: CrawlLog,
  counts: Map<string, number>,
): Promise<void> {
  for (let step = 0; step < mostSteps; step += 1) {
    if (person.modal()) await useModal(bot, person, done);
    else if (!(await pressNext(bot, person, done, counts))) return;
    await bot.waitUntilIdle();
  }
}

async function pressNext(
  bot: CanaryBot,
  person: Actor,
  done: CrawlLog,
  counts: Map<string, number>,
): Promise<boolean> {
  const home = person.home();
  const places = [
    ...person
      .messages()
      .toReversed()
      .map(({ ts, blocks }) => ({ ts, blocks })),
    ...(home ? [{ ts: undefined, blocks: home.blocks }] : []),
  ];
  for (const { ts, blocks } of places) {
    for (const { element } of findElements(blocks).flatMap(listChoices)) {
      const actionId = String(element['action_id']);
      const chosen = readChoice(actionId, String((element['options'] as Json[] | undefined)?.[0]?.['value']));
      const route = (chosen?.actionId ?? actionId).split(':', 2).join(':');
      const value = chosen?.value ?? (typeof element['value'] === 'string' ? element['value'] : '');
      const times = counts.get(route) ?? 0;
      const name = `${route} ${value}`;
      if (times >= mostOfAKind || done.pressed.has(name) || 'url' in element) continue;
      counts.set(route, times + 1);
      done.pressed.add(name);
      await use(bot, person, element, ts === undefined ? {} : { ts }, done);
      return true;
    }
  }
  return false;
}

/** A menu of buttons as one menu for each of its entries. */
function listChoices(found: { readonly element: Json }): { readonly element: Json }[] {
  const { element } = found;
  if (!String(element['action_id']).startsWith('menu:')) return [found];
  const { options: _, option_groups: __, ...menu } = element;
  return optionsOf(element).map((option) => ({ element: { ...menu, options: [option] } }));
}

/** All options of a menu, in groups or not. */
function optionsOf(element: Json): Json[] {
  type Menu = { readonly options?: Json[]; readonly option_groups?: readonly { readonly options: Json[] }[] };
  const { options = [], option_groups: groups = [] } = element as Menu;
  return [...options, ...groups.flatMap((group) => group.options)];
}

async function use(
  bot: CanaryBot,
  person: Actor,
  element: Json,
  where: { ts?: string },
  done: CrawlLog,
): Promise<void> {
  const actionId = String(element['action_id']);
  if (element['type'] === 'button') {
    const value = element['value'];
    bot.recordAnswer(
      await person.press(actionId, { ...where, ...(typeof value === 'string' ? { value } : {}) }),
    );
    return;
  }
  const value = await choiceFor(bot, person, element, where, done);
  if (value !== undefined) bot.recordAnswer(await person.choose(actionId, value as string, where));
}

async function useModal(bot: CanaryBot, person: Actor, done: CrawlLog): Promise<void> {
  const view = person.modal();
  if (!view) return;
  const values: Record<string, unknown> = {};
  for (const { block, element } of findElements(view.blocks)) {
    const blockId = String(block['block_id']);
    if (block['type'] !== 'input') {
      const name = `${view.callback_id} ${String(element['action_id'])}`;
      if (done.pressed.has(name) || 'url' in element) continue;
      done.pressed.add(name);
      await use(bot, person, element, {}, done);
      await bot.waitUntilIdle();
      // Whatever that changed is looked at afresh.
      return;
    }
    const value = await choiceFor(bot, person, element, {}, done);
    if (value === undefined) continue;
    // What was suggested is known where it is chosen only.
    if (String(element['type']).endsWith('external_select'))
      await person.choose(String(element['action_id']), value as string);
    else values[blockId] = value;
  }
  const sends = findElements(view.blocks).some(({ block }) => block['type'] === 'input');
  // What lies on a form is looked at and put away: the form is sent afterwards.
  if (!sends) return person.closeModal();
  if (!done.submitted.has(view.callback_id)) {
    // Once with what is wrong, once with what is right where that is known.
    bot.recordAnswer(await person.submit(values));
    done.submitted.add(view.callback_id);
    await bot.waitUntilIdle();
    if (person.modal()?.id === view.id && 'accessKey' in values) bot.recordAnswer(await retype(bot, person));
    await bot.waitUntilIdle();
  }
  while (person.modal()) await person.closeModal();
}

async function retype(bot: CanaryBot, person: Actor): Promise<unknown> {
  const asks = findElements(person.modal()?.blocks ?? []).some(
    ({ block }) => block['block_id'] === 'accessKey',
  );
  return asks ? person.submit({ accessKey: bot.cdn.key }) : undefined;
}

async function choiceFor(
  bot: CanaryBot,
  person: Actor,
  element: Json,
  where: { ts?: string },
  done: CrawlLog,
): Promise<unknown> {
  const actionId = String(element['action_id']);
  const type = String(element['type']);
  const many = type.startsWith('multi_');
  const wrap = (value: string): string | string[] => (many ? [value] : value);
  if (type.endsWith('external_select')) {
    // What could be an id is offered as one; anything else that is typed never comes back.
    for (const typed of ['nothing has this name', 'CANARY-typed in a menu', 's', 'a', '501']) {
      const options = await person.suggest(actionId, typed, where);
      bot.recordAnswer(options);
      done.searched.add(actionId);
      const first = options.find(({ value }) => !isNote(String(value)));
      if (first) return wrap(String(first['value']));
    }
    return undefined;
  }
  if (type.endsWith('users_select')) return wrap('U0BOB0000');
  if (/(?:conversations|channels)_select$/u.test(type)) return wrap('C0DEPLOY0');
  switch (type) {
    case 'plain_text_input':
    case 'email_text_input':
    case 'url_text_input':
      return shownFields.has(actionId) || /^filters?-/u.test(actionId)
        ? (shownValues[actionId] ?? 'as usual')
        : canary('typed', actionId);
    case 'number_input':
      return shownValues[actionId] ?? '1';
    case 'datepicker':
      return '2026-11-20';
    case 'timepicker':
      return '10:00';
    default: {
      const value = optionsOf(element)[0]?.['value'];
      if (typeof value !== 'string') return undefined;
      return many || type === 'checkboxes' ? [value] : value;
    }
  }
}
