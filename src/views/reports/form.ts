import type { KnownBlock, ModalView, PlainTextOption } from '@slack/types';
import { minuteMs } from '../../lib/time.ts';
import { actions, context, section } from '../blocks/blocks.ts';
import { button } from '../blocks/buttons.ts';
import { andMore, formatDuration, formatInteger, formatPeriod } from '../blocks/format.ts';
import {
  channelSelect,
  checkbox,
  input,
  modal,
  multiSearchSelect,
  multiSelect,
  numberInput,
  option,
  searchSelect,
  select,
  textInput,
} from '../blocks/inputs.ts';
import { replaceNativeBlocks } from '../blocks/native.ts';
import { capitalize, escapeMrkdwn, type Maybe } from '../blocks/text.ts';
import type { RenderedDigest } from './digests/post.ts';
import { listParts } from './incident.ts';
import {
  type AlertCondition,
  type AlertSubject,
  type DigestOrder,
  dayNames,
  describeEvery,
  describeOrder,
  describeSubject,
  describeTroubles,
  describeUnknown,
  type Evidence,
  type Part,
  type Topic,
  targetTypes,
} from './report.ts';

export interface FormNotes {
  /** Comes back with the form: which one it changes. */
  readonly note?: string | undefined;
  /** Above the fields. */
  readonly says?: string | undefined;
}

type Values = Readonly<Record<string, string | readonly string[] | undefined>>;

function createReader(values: Values) {
  const all = (name: string): string[] => [values[name] ?? []].flat();
  return { all, one: (name: string): string | undefined => all(name)[0] };
}

function renderForm(
  kind: 'digest' | 'alert',
  { note, says }: FormNotes,
  inputs: readonly Maybe<KnownBlock>[],
): ModalView {
  const title = note === undefined ? `New ${kind}` : `Edit ${kind}`;
  const settings = { title, callbackId: `${kind}s:submit`, metadata: note, submit: 'Save' };
  return modal(settings, [says && section(says), ...inputs]);
}

export const mostTargets = 20;
export const mostAbove = 999_999_999;

/** 1 = Monday. The form has days of the month behind them. */
export const weekdayChoices: Readonly<Record<string, { label: string; days: readonly number[] }>> = {
  daily: { label: 'Every day', days: [1, 2, 3, 4, 5, 6, 7] },
  workdays: { label: 'Workdays (Monday to Friday)', days: [1, 2, 3, 4, 5] },
  ...Object.fromEntries(
    dayNames.map((day, nth) => [day.slice(0, 3).toLowerCase(), { label: `${day}s`, days: [nth + 1] }]),
  ),
};

export function renderDigestForm(values: Values, notes: FormNotes, allKinds: readonly Topic[]): ModalView {
  const { all, one } = createReader(values);
  const kinds = allKinds.filter(({ name }) => all('kind').includes(name));
  const [timezone = 'UTC', only = 'always', above] = ['timezone', 'only', 'above'].map(one);
  const thresholds = [
    option('Always', 'always'),
    option('Only if something changed', 'changed'),
    option('Only what is new since the last post', 'new'),
  ];
  return renderForm('digest', notes, [
    multiSelect(
      'kind',
      'What',
      allKinds.map(({ name, label }) => option(label, name)),
      { chosen: kinds.map(({ name }) => name) },
    ),
    multiSearchSelect('target', 'Scope', mostTargets, {
      optional: true,
      hint: 'Type a zone’s name, or the ID of a shield zone or app. Empty = every zone and its apps.',
      placeholder: 'Zones, shield zones, apps',
      chosen: all('target').map((one) => targetOption(one)),
    }),
    channelSelect('channel', 'Where', {
      chosen: one('channel'),
      hint: 'Everyone in this channel sees what your key can read. Invite the bot first.',
    }),
    multiSelect('days', 'Days', dayOptions(), { chosen: all('days') }),
    input('time', 'Time', { type: 'timepicker', initial_time: one('time') ?? '09:00' }),
    select('repeat', 'Also post at', repeats, { chosen: one('repeat') ?? '', optional: true }),
    searchSelect('timezone', 'Time zone', { chosen: option(timezone, timezone) }),
    select('only', 'Post', thresholds, { chosen: only, optional: true }),
    numberInput('above', 'Only above a number', [0, mostAbove], {
      optional: true,
      hint: `Posts if there are more ${describeTroubles(allKinds)} than this. 0 = if there are any. Empty = as chosen above.`,
      initial: above,
    }),
    actions(button('Preview', 'digests:preview', 'preview')),
  ]);
}

export const repeatChoices: readonly number[] = [1, 2, 3, 4, 6, 8, 12];

const repeats = repeatChoices.map((hours) =>
  option(`Every ${formatPeriod(hours * 60)} until midnight`, String(hours)),
);

function dayOptions(): PlainTextOption[] {
  const weekdays = Object.entries(weekdayChoices).map(([name, { label }]) => option(label, name));
  const monthDays = Array.from({ length: 31 }, (_, index) => {
    const label = `Day ${index + 1} of the month`;
    return option(index < 28 ? label : `${label}, or its last`, String(index + 1));
  });
  return [...weekdays, ...monthDays];
}

/** `target` as the form holds it: `zone:1001`. */
export function targetOption(target: string, name?: string): PlainTextOption {
  const [prefix = '', id = ''] = target.split(':');
  const type = Object.values(targetTypes).find((one) => one.prefix === prefix);
  const words = `${type?.noun ?? ''} ${id}`;
  return option(name === undefined ? words : `${name} · ${words.toLowerCase()}`, target);
}

const mostBlocks = 100;

/** The post as the channel would see it, then its thread; charts in words, since a modal takes none. */
export function renderPreviewed(
  { top, thread, quiet }: RenderedDigest,
  order: Omit<DigestOrder, 'channel'>,
): ModalView {
  const blocks = replaceNativeBlocks([
    quiet && section(':zipper_mouth_face: *It would not post now:* the threshold is not reached.'),
    ...(top.blocks ?? []),
    thread.length > 0 && { type: 'divider' },
    thread.length > 0 && context('*In the thread*'),
    ...thread.flatMap((shown) => shown.blocks ?? []),
  ]);
  const footer = context(`Only you see this. ${describeOrder(order)}.`);
  const settings = { title: 'Preview', callbackId: 'digests:previewed', close: 'Back' };
  return modal(settings, [...blocks.slice(0, mostBlocks - 1), footer]);
}

export const mostNamed = 10;
export const everyChoices: readonly number[] = [5, 10, 15, 30, 60, 120, 180, 360, 720, 1440];
export const windowChoices: readonly number[] = [5, 10, 15, 30, 60, 180, 360, 1440];

const targetHints = {
  zones: ['Zones', 'Empty = every zone.'],
  origins: ['Zones or origin hosts', 'Empty = every zone.'],
  hosts: ['Origin hosts', 'Empty = every origin host.'],
  apps: ['Apps', 'Empty = every app that your zones are linked to.'],
  shieldZones: ['Shield zones', 'Type the ID of a shield zone.'],
} as const;

export function renderAlertForm(
  values: Values,
  notes: FormNotes,
  condition: AlertCondition,
  conditions: readonly AlertCondition[],
): ModalView {
  const { all, one } = createReader(values);
  const timezone = one('timezone') ?? 'UTC';
  const { name, target, threshold, window, leastEvery = 5, missingTarget, withoutTarget } = condition;
  // An input that must show another value gets another block id, since Slack keeps the input of an unchanged one.
  return renderForm('alert', notes, [
    select(
      'condition',
      'Alert when',
      conditions.map(({ name, label }) => option(label, name)),
      { chosen: name, dispatch: true },
    ),
    multiSearchSelect(`target:${target}`, targetHints[target][0], mostTargets, {
      optional: missingTarget === undefined,
      hint: withoutTarget ?? targetHints[target][1],
      placeholder: targetHints[target][0],
      // Those of another condition mean something else.
      chosen: all(`target:${target}`).map((id) => option(id, id)),
    }),
    threshold &&
      numberInput(
        `threshold:${name}`,
        `${threshold.label} (${threshold.unit})`,
        [threshold.least, threshold.most],
        {
          hint: threshold.hint,
          initial: one(`threshold:${name}`) ?? String(threshold.initial),
        },
      ),
    window &&
      select(
        `window:${name}`,
        'Time window',
        asOptions(windowChoices, (minutes) => formatDuration(minutes * minuteMs)),
        { chosen: one(`window:${name}`) ?? String(window.initial) },
      ),
    select(
      `every:${name}`,
      'Check every',
      asOptions(
        everyChoices.filter((one) => one >= leastEvery),
        describeEvery,
      ),
      { chosen: one(`every:${name}`) ?? String(leastEvery) },
    ),
    channelSelect('channel', 'Where', {
      chosen: one('channel'),
      optional: true,
      hint: 'Everyone in this channel sees what your key can read. Empty = direct message to you.',
    }),
    input(
      'people',
      'Mention people',
      {
        type: 'multi_users_select',
        max_selected_items: mostNamed,
        initial_users: all('people'),
      },
      { optional: true, hint: 'Mentioned when it fires.' },
    ),
    multiSearchSelect('groups', 'Mention groups', mostNamed, {
      optional: true,
      placeholder: 'User groups',
      chosen: all('groups').map((id) => option(`Group ${id}`, id)),
    }),
    textInput('hours', 'Only at these hours', {
      optional: true,
      initial: one('hours') ?? '',
      placeholder: 'Mon-Fri 08:00-18:00',
      hint: 'Empty = always.',
    }),
    searchSelect('timezone', 'Time zone', { chosen: option(timezone, timezone) }),
    checkbox('lifeSign', 'Daily heartbeat', option('Post “still watching” at 09:00', 'on'), {
      checked: all('lifeSign').length > 0,
    }),
    actions(button('Try it now', 'alerts:try', 'try')),
  ]);
}

function asOptions(minutes: readonly number[], label: (minutes: number) => string): PlainTextOption[] {
  return minutes.map((one) => option(label(one), String(one)));
}

const mostEvidence = 12;

export function renderTried(
  { parts, evidence }: { readonly parts: readonly Part[]; readonly evidence: readonly Evidence[] },
  subject: AlertSubject,
): ModalView {
  const unknown = describeUnknown(evidence);
  const found =
    parts.length === 0
      ? unknown
        ? `:grey_question: *Would not fire now, as far as checked*: ${unknown}.`
        : ':white_check_mark: *Would not fire now.*'
      : `:rotating_light: *Would fire now: ${formatInteger(parts.length)} over the threshold*`;
  const lines = evidence
    .slice(0, mostEvidence)
    .map(
      ({ name, is, wrongIf, isWrong }) =>
        `${isWrong ? ':red_circle:' : ':white_circle:'} *${escapeMrkdwn(name, 60)}*: ${escapeMrkdwn(is)}${wrongIf === undefined ? '' : ` (threshold: ${escapeMrkdwn(wrongIf)})`}`,
    );
  const more = evidence.length - lines.length;
  return modal({ title: 'Try it now', callbackId: 'alerts:tried', close: 'Back' }, [
    section([found, ...listParts(parts)]),
    lines.length > 0 && section(lines),
    context([capitalize(describeSubject(subject)), andMore(more)]),
  ]);
}
