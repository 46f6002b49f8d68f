import type { KnownBlock, ModalView, PlainTextOption } from '@slack/types';
import { targetTypes } from '../../digests/kinds/kind.ts';
import { type DigestKindName, digestKinds, findDigestKind } from '../../digests/kinds/list.ts';
import type { Threshold } from '../../digests/model.ts';
import { actions, button, context, limits, plain, section } from '../blocks/blocks.ts';
import { plainText } from '../blocks/text.ts';
import { describeTroubles } from './words.ts';

/** The form's fields, as far as they are filled in. */
export interface FormValues {
  readonly kinds: readonly DigestKindName[];
  readonly targets: readonly string[];
  readonly channel: string | undefined;
  readonly time: string;
  readonly days: readonly string[];
  readonly timeZone: string;
  readonly only: string;
  /** The number, where `only` is `above`. */
  readonly above: string;
}

/** Opens at once; its content follows. */
export function digestSkeleton(title = 'Digest'): ModalView {
  return {
    type: 'modal',
    callback_id: 'digests:opening',
    title: plain(title),
    close: plain('Close'),
    blocks: [section(':hourglass_flowing_sand: One moment…')],
  };
}

export function digestBusy(): ModalView {
  return { ...digestSkeleton(), callback_id: 'digests:busy' };
}

/** `note` comes back with the form: which digest it changes. */
export function renderDigestForm(
  values: FormValues,
  more: {
    readonly note?: string | undefined;
    readonly says?: string | undefined;
    /** When it will run, in words. */
    readonly next?: string | undefined;
  } = {},
): ModalView {
  const { kinds, targets, channel, time, days, timeZone, only } = values;
  return {
    type: 'modal',
    callback_id: 'digests:submit',
    ...(more.note === undefined ? {} : { private_metadata: more.note }),
    title: plain(more.note === undefined ? 'New digest' : 'Edit the digest'),
    submit: plain('Save'),
    close: plain('Cancel'),
    blocks: [
      ...(more.says === undefined ? [] : [section(more.says)]),
      {
        type: 'input',
        block_id: 'kind',
        dispatch_action: true,
        label: plain('What'),
        element: {
          type: 'multi_static_select',
          action_id: 'kind',
          options: digestKinds.map(({ name }) => kindOption(name)),
          ...(kinds.length > 0 ? { initial_options: kinds.map(kindOption) } : {}),
        },
      },
      {
        type: 'input',
        block_id: 'target',
        optional: true,
        label: plain('Of what'),
        hint: plain(
          'Type a zone’s name, or the id of a shield zone or app. Empty = every zone and its apps; origin errors of the 25 busiest.',
        ),
        element: {
          type: 'multi_external_select',
          action_id: 'target',
          min_query_length: 0,
          max_selected_items: mostTargets,
          placeholder: plain('Zones, shield zones, apps'),
          ...(targets.length > 0 ? { initial_options: targets.map((target) => targetOption(target)) } : {}),
        },
      },
      {
        type: 'input',
        block_id: 'channel',
        label: plain('Where'),
        hint: plain('Everybody in there sees what your key can read. Invite the bot first.'),
        element: {
          type: 'conversations_select',
          action_id: 'channel',
          filter: { include: ['public', 'private'], exclude_bot_users: true },
          ...(channel === undefined ? {} : { initial_conversation: channel }),
        },
      },
      {
        type: 'input',
        block_id: 'days',
        dispatch_action: true,
        label: plain('Days'),
        element: {
          type: 'multi_static_select',
          action_id: 'days',
          options: dayOptions(),
          ...(days.length > 0
            ? { initial_options: dayOptions().filter(({ value }) => days.includes(value ?? '')) }
            : {}),
        },
      },
      {
        type: 'input',
        block_id: 'time',
        dispatch_action: true,
        label: plain('Time'),
        element: { type: 'timepicker', action_id: 'time', initial_time: time },
      },
      {
        type: 'input',
        block_id: 'timezone',
        dispatch_action: true,
        label: plain('Time zone'),
        element: {
          type: 'external_select',
          action_id: 'timezone',
          min_query_length: 0,
          initial_option: option(timeZone, timeZone),
        },
      },
      ...(more.next === undefined ? [] : [context(more.next)]),
      {
        type: 'input',
        block_id: 'only',
        dispatch_action: true,
        optional: true,
        label: plain('Post'),
        element: {
          type: 'static_select',
          action_id: 'only',
          options: onlyOptions(),
          initial_option: onlyOptions().find(({ value }) => value === only) ?? option('Always', 'always'),
        },
      },
      ...(only === 'above' ? [aboveBlock(values)] : []),
      actions(button('Preview', 'digests:preview', 'preview')),
    ],
  };
}

export const mostTargets = 20;

export const mostAbove = 999_999_999;

/** A threshold as the form's fields hold it. */
export function onlyValues(only: Threshold): Pick<FormValues, 'only' | 'above'> {
  return typeof only === 'string' ? { only, above: '10' } : { only: 'above', above: String(only.above) };
}

function onlyOptions(): PlainTextOption[] {
  return [
    option('Always', 'always'),
    option('Only if something changed', 'changed'),
    option('Only above a number', 'above'),
  ];
}

function aboveBlock({ above, kinds }: FormValues): KnownBlock {
  return {
    type: 'input',
    block_id: 'above',
    label: plain('Above'),
    hint: plain(`How many ${describeTroubles(kinds)}: it posts from one more on. 0 = if there are any.`),
    element: {
      type: 'number_input',
      action_id: 'above',
      is_decimal_allowed: false,
      min_value: '0',
      max_value: String(mostAbove),
      ...(/^\d{1,9}$/u.test(above) ? { initial_value: above } : {}),
    },
  };
}

const weekdays = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];
const weekdayNames = ['Mondays', 'Tuesdays', 'Wednesdays', 'Thursdays', 'Fridays', 'Saturdays', 'Sundays'];

function dayOptions(): PlainTextOption[] {
  return [
    option('Every day', 'daily'),
    option('Workdays (Monday to Friday)', 'workdays'),
    ...weekdays.map((day, index) => option(weekdayNames[index] ?? day, day)),
    ...Array.from({ length: 31 }, (_, index) => {
      const day = index + 1;
      return option(
        day > 28 ? `Day ${day} of the month, or its last` : `Day ${day} of the month`,
        String(day),
      );
    }),
  ];
}

function kindOption(name: DigestKindName): PlainTextOption {
  return option(findDigestKind(name).label, name);
}

/** `target` as the form holds it: `zone:1001`. */
export function targetOption(target: string, name?: string): PlainTextOption {
  const [prefix = '', id = ''] = target.split(':');
  const type = Object.values(targetTypes).find((one) => one.prefix === prefix);
  const words = `${type?.noun ?? ''} ${id}`;
  return option(name === undefined ? words : `${name} · ${words.toLowerCase()}`, target);
}

export function zoneOption(timeZone: string): PlainTextOption {
  return option(timeZone, timeZone);
}

/** A line in a menu that is no choice. */
export function noteOption(text: string): PlainTextOption {
  return option(text, 'note');
}

function option(text: string, value: string): PlainTextOption {
  return { text: plain(plainText(text, limits.option)), value };
}
