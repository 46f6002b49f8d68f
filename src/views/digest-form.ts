import type { ModalView, PlainTextOption } from '@slack/types';
import { type DigestKind, digestKinds, type Only } from '../reports/digest.ts';
import { actions, button, limits, plain, section } from './blocks.ts';
import { plainly } from './text.ts';

/** What the form is drawn with: as far as something is chosen already. */
export interface FormValues {
  readonly kinds: readonly DigestKind[];
  readonly targets: readonly string[];
  readonly channel: string | undefined;
  readonly time: string;
  readonly days: readonly string[];
  readonly timeZone: string;
  readonly only: string;
}

/** Opens at once; what is in it comes a moment later. */
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

/** The form. `note` comes back with it: which digest is changed. */
export function digestForm(
  values: FormValues,
  more: { readonly note?: string | undefined; readonly says?: string | undefined } = {},
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
        label: plain('What'),
        element: {
          type: 'multi_static_select',
          action_id: 'kind',
          options: digestKinds.map((kind) => option(kindNames[kind], kind)),
          ...(kinds.length > 0
            ? { initial_options: kinds.map((kind) => option(kindNames[kind], kind)) }
            : {}),
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
        label: plain('Time'),
        element: { type: 'timepicker', action_id: 'time', initial_time: time },
      },
      {
        type: 'input',
        block_id: 'timezone',
        label: plain('Time zone'),
        element: {
          type: 'external_select',
          action_id: 'timezone',
          min_query_length: 0,
          initial_option: option(timeZone, timeZone),
        },
      },
      {
        type: 'input',
        block_id: 'only',
        optional: true,
        label: plain('Post'),
        hint: plain(
          'Above: of origin errors, blocked uploads, failing apps and zones that need attention, together.',
        ),
        element: {
          type: 'static_select',
          action_id: 'only',
          options: onlyOptions(),
          initial_option: onlyOptions().find(({ value }) => value === only) ?? option(aboveWords(only), only),
        },
      },
      actions(button('Preview', 'digests:preview', 'preview')),
    ],
  };
}

export const mostTargets = 20;

const kindNames: Readonly<Record<DigestKind, string>> = {
  zones: 'Zones overview',
  errors: 'Origin errors',
  scanning: 'Upload scanning',
  apps: 'App usage',
};

export function kindWords(kinds: readonly DigestKind[]): string {
  return kinds
    .map((kind, index) => (index === 0 ? kindNames[kind] : kindNames[kind].toLowerCase()))
    .join(', ');
}

/** `only` as the form's field holds it. */
export function onlyValue(only: Only): string {
  return typeof only === 'string' ? only : String(only.above);
}

export function onlyWords(only: Only): string {
  if (only === 'always') return '';
  return only === 'changed' ? 'only if something changed' : aboveWords(String(only.above)).toLowerCase();
}

function onlyOptions(): PlainTextOption[] {
  return [
    option('Always', 'always'),
    option('Only if something changed', 'changed'),
    ...['0', '10', '100', '1000', '10000'].map((above) => option(aboveWords(above), above)),
  ];
}

function aboveWords(above: string): string {
  return above === '0' ? 'Only if there is any trouble' : `Only above ${above}`;
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

/** What a target is called where only its id is known. */
export function targetOption(target: string, name?: string): PlainTextOption {
  const [kind = '', id = ''] = target.split(':');
  const nouns: Readonly<Record<string, string>> = { zone: 'Zone', shield: 'Shield zone', app: 'App' };
  const words = `${nouns[kind] ?? ''} ${id}`;
  return option(name === undefined ? words : `${name} · ${words.toLowerCase()}`, target);
}

export function zoneOption(timeZone: string): PlainTextOption {
  return option(timeZone, timeZone);
}

/** A line in a menu that tells instead of offering. */
export function noteOption(text: string): PlainTextOption {
  return option(text, 'note');
}

function option(text: string, value: string): PlainTextOption {
  return { text: plain(plainly(text, limits.option)), value };
}
