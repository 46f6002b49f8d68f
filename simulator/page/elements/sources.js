// Where a menu's choices come from: its own options, the bot (external), or the people and channels there are.

import { channel, channels, dmOf, me, people, person } from '../world.js';

const option = (one) => ({
  value: one.value,
  text: one.text?.text ?? one.value,
  words: one.text,
  description: one.description?.text,
});

/** Groups of options: `{label?, options}`. */
const grouped = (from) =>
  from.option_groups?.length
    ? from.option_groups.map((group) => ({ label: group.label?.text, options: group.options.map(option) }))
    : [{ options: (from.options ?? []).map(option) }];

const ofPeople = () => [
  { options: people().map((one) => ({ value: one.id, text: one.name, description: one.role })) },
];

function ofConversations(element) {
  const include = element.filter?.include ?? ['im', 'mpim', 'private', 'public'];
  const groups = [{ label: 'Channels', options: ofChannels()[0].options }];
  const dm = { value: dmOf(me().id), text: 'CDN (direct message)' };
  if (include.includes('im') && !element.filter?.exclude_bot_users)
    groups.push({ label: 'Direct messages', options: [dm] });
  return include.includes('public') ? groups : groups.slice(1);
}

const ofChannels = () => [{ options: channels().map((one) => ({ value: one.id, text: `#${one.name}` })) }];

/** `{load(typed), remote, minimum, search}` for the picker: what to offer for what was typed so far. */
export function source(element, cx) {
  if (element.type.includes('external')) {
    return {
      remote: true,
      minimum: element.min_query_length ?? 3,
      load: async (typed) => grouped(await cx.surface.suggest(cx.block, element, typed)),
    };
  }
  if (element.type.includes('users')) return { load: ofPeople };
  if (element.type.includes('conversations')) return { load: () => ofConversations(element) };
  if (element.type.includes('channels')) return { load: ofChannels };
  return { load: () => grouped(element) };
}

/** What a chosen value is called. */
export function nameOf({ value, text }) {
  if (text) return text;
  const place = channel(value);
  if (value === dmOf(me()?.id)) return 'CDN (direct message)';
  return person(value)?.name ?? (place ? `#${place.name}` : value);
}
