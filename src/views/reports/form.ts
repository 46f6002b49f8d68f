import type { KnownBlock, ModalView, PlainTextOption } from '@slack/types';
import type { Observation } from '../../commands/reports/alerts/conditions/condition.ts';
import {
  type ConditionName,
  conditions,
  findCondition,
} from '../../commands/reports/alerts/conditions/list.ts';
import { targetTypes } from '../../commands/reports/digests/kinds/kind.ts';
import { type DigestKindName, digestKinds } from '../../commands/reports/digests/kinds/list.ts';
import type { Alert, AlertSubject, Digest, DigestOrder } from '../../commands/reports/model.ts';
import { minuteMs } from '../../lib/time.ts';
import { actions, context, type FormResult, type Message, say, section } from '../blocks/blocks.ts';
import { button } from '../blocks/buttons.ts';
import { formatDuration, formatInteger } from '../blocks/format.ts';
import {
  channelSelect,
  checkbox,
  formResult,
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
import { capitalize, escapeMrkdwn, formatCode, type Maybe } from '../blocks/text.ts';
import { listParts } from './alerts/incident.ts';
import { describeEvery, describeSubject } from './alerts/words.ts';
import type { RenderedDigest } from './digests/post.ts';
import { describeNextRuns, formatRunTime } from './digests/schedule.ts';
import { describeOrder, describeTroubles } from './digests/words.ts';
import { formatPlace } from './words.ts';

/** Opens at once; its content follows. */
export function reportSkeleton(
  feature: 'digests' | 'alerts',
  title = feature === 'digests' ? 'Digest' : 'Alert',
): ModalView {
  return modal({ title, callbackId: `${feature}:opening` }, [
    section(':hourglass_flowing_sand: One moment…'),
  ]);
}

/** A preview or a try that wants other values first. */
export function renderNotYet(title: string, problems: readonly string[]): ModalView {
  return renderOnTop(title, undefined, [
    section([':warning: *Not yet*', ...problems.map((line) => `• ${line}`)]),
    context('Go back and fix that.'),
  ]);
}

function renderOnTop(
  title: string,
  callbackId: string | undefined,
  blocks: readonly Maybe<KnownBlock>[],
): ModalView {
  return modal({ title, callbackId, close: 'Back' }, blocks);
}

/** The form's fields by name, as far as they are filled in. */
export interface DigestValues {
  readonly kind: readonly DigestKindName[];
  readonly target: readonly string[];
  readonly channel: string | undefined;
  readonly days: readonly string[];
  readonly time: string;
  /** Hours until it runs again on the same day; empty = it does not. */
  readonly repeat: string;
  readonly timezone: string;
  readonly only: string;
  readonly above: string;
}

export const mostTargets = 20;
export const mostAbove = 999_999_999;

/** The form's choices of weekdays, 1 = Monday. Behind them it has the days of the month by their number. */
export const weekdayChoices: Readonly<Record<string, { label: string; days: readonly number[] }>> = {
  daily: { label: 'Every day', days: [1, 2, 3, 4, 5, 6, 7] },
  workdays: { label: 'Workdays (Monday to Friday)', days: [1, 2, 3, 4, 5] },
  mon: { label: 'Mondays', days: [1] },
  tue: { label: 'Tuesdays', days: [2] },
  wed: { label: 'Wednesdays', days: [3] },
  thu: { label: 'Thursdays', days: [4] },
  fri: { label: 'Fridays', days: [5] },
  sat: { label: 'Saturdays', days: [6] },
  sun: { label: 'Sundays', days: [7] },
};

export function renderDigestForm(
  { kind, target, channel, days, time, repeat, timezone, only, above }: DigestValues,
  about: {
    /** Comes back with the form: which digest it changes. */
    readonly note?: string | undefined;
    readonly says?: string | undefined;
    /** When it will run, in words. */
    readonly next: string;
  },
): ModalView {
  const thresholds = [
    option('Always', 'always'),
    option('Only if something changed', 'changed'),
    option('Only what is new since the last post', 'new'),
    option('Only above a number', 'above'),
  ];
  return modal(
    {
      title: about.note === undefined ? 'New digest' : 'Edit digest',
      callbackId: 'digests:submit',
      metadata: about.note,
      submit: 'Save',
    },
    [
      about.says && section(about.says),
      multiSelect(
        'kind',
        'What',
        digestKinds.map(({ name, label }) => option(label, name)),
        { chosen: kind, dispatch: true },
      ),
      multiSearchSelect('target', 'Scope', mostTargets, {
        optional: true,
        hint: 'Type a zone’s name, or the ID of a shield zone or app. Empty = every zone and its apps.',
        placeholder: 'Zones, shield zones, apps',
        chosen: target.map((one) => targetOption(one)),
      }),
      channelSelect('channel', 'Where', {
        chosen: channel,
        hint: 'Everyone in this channel sees what your key can read. Invite the bot first.',
      }),
      multiSelect('days', 'Days', dayOptions(), { chosen: days, dispatch: true }),
      input('time', 'Time', { type: 'timepicker', initial_time: time }, { dispatch: true }),
      select('repeat', 'Also post at', repeats, { chosen: repeat, dispatch: true, optional: true }),
      searchSelect('timezone', 'Time zone', { chosen: option(timezone, timezone), dispatch: true }),
      context(about.next),
      select('only', 'Post', thresholds, { chosen: only, dispatch: true, optional: true }),
      only === 'above' &&
        numberInput('above', 'Above', [0, mostAbove], {
          hint: `Posts if there are more ${describeTroubles(kind)} than this. 0 = if there are any.`,
          initial: /^\d{1,9}$/u.test(above) ? above : undefined,
        }),
      actions(button('Preview', 'digests:preview', 'preview')),
    ],
  );
}

/** Hours between two runs of a day. */
export const repeatChoices: readonly number[] = [1, 2, 3, 4, 6, 8, 12];

const repeats = repeatChoices.map((hours) =>
  option(hours === 1 ? 'Every hour until midnight' : `Every ${hours} hours until midnight`, String(hours)),
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

export function renderDigestSaved(digest: Digest, now: Date): FormResult {
  const { id, paused, schedule } = digest;
  const text = paused ? `Saved: the digest ${id} stays paused.` : `Saved: ${describeOrder(digest)}.`;
  return formResult({ title: 'Digest', callbackId: 'digests:done' }, text, [
    section(`:white_check_mark: ${text}`),
    !paused && section(describeNextRuns(schedule, now)),
    actions(button('Run now', 'digests:run', id)),
    context(`Digest ${formatCode(id)} · uses your key · \`/cdn digest list\` shows all`),
  ]);
}

/** For the channel of a new or moved digest. */
export function renderDigestAnnouncement(digest: Digest, by: string): Message {
  const text = `<@${by}> added a digest to this channel: ${describeOrder(digest)}.`;
  return say(text, context(`Digest ${formatCode(digest.id)} · shows what <@${by}>’s key can read`));
}

const mostBlocks = 100;

/** The post as the channel would see it, then its thread; charts in words, since a modal takes none. */
export function renderPreviewed({ top, thread, quiet }: RenderedDigest, order: DigestOrder): ModalView {
  const blocks = replaceNativeBlocks([
    quiet && section(':zipper_mouth_face: *It would not post now:* the threshold is not reached.'),
    ...(top.blocks ?? []),
    thread.length > 0 && { type: 'divider' },
    thread.length > 0 && context('*In the thread*'),
    ...thread.flatMap((shown) => shown.blocks ?? []),
  ]);
  const footer = context(`Only you see this. ${describeOrder(order)}.`);
  return renderOnTop('Preview', 'digests:previewed', [...blocks.slice(0, mostBlocks - 1), footer]);
}

/** The form's fields by name, as far as they are filled in. */
export interface AlertValues {
  readonly condition: ConditionName;
  readonly target: readonly string[];
  readonly threshold: string | undefined;
  readonly window: string | undefined;
  readonly every: string;
  readonly channel: string | undefined;
  readonly hours: string;
  readonly timezone: string;
  readonly people: readonly string[];
  readonly groups: readonly string[];
  readonly lifeSign: boolean;
}

export const mostNamed = 10;
/** Minutes. */
export const everyChoices: readonly number[] = [5, 10, 15, 30, 60, 120, 180, 360, 720, 1440];
export const windowChoices: readonly number[] = [5, 10, 15, 30, 60, 180, 360, 1440];

const targetHints = {
  zones: ['Zones', 'Empty = every zone.'],
  origins: ['Zones or origin hosts', 'Empty = every zone.'],
  hosts: ['Origin hosts', 'Empty = every origin host.'],
  apps: ['Apps', 'Empty = every app that your zones are linked to.'],
  shieldZones: ['Shield zones', 'Type the id of a shield zone.'],
} as const;

export function renderAlertForm(
  values: AlertValues,
  about: { readonly note?: string | undefined; readonly says?: string | undefined },
): ModalView {
  const { condition: name, timezone, people, groups } = values;
  const condition = findCondition(name);
  const { target, threshold, window, leastEvery = 5, missingTarget, withoutTarget } = condition;
  // An input that must show another value gets another block id, since Slack keeps the input of an unchanged one.
  return modal(
    {
      title: about.note === undefined ? 'New alert' : 'Edit alert',
      callbackId: 'alerts:submit',
      metadata: about.note,
      submit: 'Save',
    },
    [
      about.says && section(about.says),
      select(
        'condition',
        'Alert when',
        conditions.map(({ name, label }) => option(label, name)),
        { chosen: name, dispatch: true },
      ),
      target !== 'account' &&
        multiSearchSelect(`target:${target}`, targetHints[target][0], mostTargets, {
          optional: missingTarget === undefined,
          hint: withoutTarget ?? targetHints[target][1],
          placeholder: targetHints[target][0],
          chosen: values.target.map((id) => option(id, id)),
        }),
      threshold &&
        numberInput(
          `threshold:${name}`,
          `${threshold.label} (${threshold.unit})`,
          [threshold.least, threshold.most],
          {
            hint: threshold.hint,
            initial: values.threshold,
          },
        ),
      window &&
        select(
          `window:${name}`,
          'Time window',
          asOptions(windowChoices, (minutes) => formatDuration(minutes * minuteMs)),
          {
            chosen: values.window,
          },
        ),
      select(
        `every:${name}`,
        'Check every',
        asOptions(
          everyChoices.filter((one) => one >= leastEvery),
          describeEvery,
        ),
        { chosen: values.every },
      ),
      channelSelect('channel', 'Where', {
        chosen: values.channel,
        optional: true,
        hint: 'Everyone in this channel sees what your key can read. Empty = direct message to you.',
      }),
      input(
        'people',
        'Mention people',
        { type: 'multi_users_select', max_selected_items: mostNamed, initial_users: [...people] },
        { optional: true, hint: 'Mentioned when it fires.' },
      ),
      multiSearchSelect('groups', 'Mention groups', mostNamed, {
        optional: true,
        placeholder: 'User groups',
        chosen: groups.map((id) => option(`Group ${id}`, id)),
      }),
      textInput('hours', 'Only at these hours', {
        optional: true,
        initial: values.hours,
        placeholder: 'Mon-Fri 08:00-18:00',
        hint: 'Empty = always.',
      }),
      searchSelect('timezone', 'Time zone', { chosen: option(timezone, timezone) }),
      checkbox('lifeSign', 'Daily heartbeat', option('Post “still watching” at 09:00', 'on'), {
        checked: values.lifeSign,
      }),
      actions(button('Try it now', 'alerts:try', 'try')),
    ],
  );
}

function asOptions(minutes: readonly number[], label: (minutes: number) => string): PlainTextOption[] {
  return minutes.map((one) => option(label(one), String(one)));
}

const mostEvidence = 12;

/** What a check finds with what is filled in. */
export function renderTried({ parts, evidence }: Observation<unknown>, subject: AlertSubject): ModalView {
  const found =
    parts.length === 0
      ? ':white_check_mark: *Would not fire now.*'
      : `:rotating_light: *Would fire now: ${formatInteger(parts.length)} over the threshold*`;
  const lines = evidence
    .slice(0, mostEvidence)
    .map(
      ({ name, is, wrongIf, isWrong }) =>
        `${isWrong ? ':red_circle:' : ':white_circle:'} *${escapeMrkdwn(name, 60)}*: ${escapeMrkdwn(is)}${wrongIf === undefined ? '' : ` (threshold: ${escapeMrkdwn(wrongIf)})`}`,
    );
  const more = evidence.length - lines.length;
  return renderOnTop('Try it now', 'alerts:tried', [
    section([found, ...listParts(parts)]),
    lines.length > 0 && section(lines),
    context([capitalize(describeSubject(subject)), more > 0 && `and ${formatInteger(more)} more`]),
  ]);
}

export function renderAlertSaved({ id, paused, subject, channel, nextDue }: Alert): FormResult {
  const text = paused ? `Saved: the alert ${id} stays paused.` : `Saved: ${describeSubject(subject)}.`;
  return formResult({ title: 'Alert', callbackId: 'alerts:done' }, text, [
    section(`:white_check_mark: ${text}`),
    !paused &&
      nextDue &&
      section(
        `It posts to ${formatPlace(channel)} when this starts, changes or resolves. First check: ${formatRunTime(nextDue, subject.timeZone)}.`,
      ),
    actions(button('Check now', 'alerts:check', id)),
    context(`Alert ${formatCode(id)} · uses your key · \`/cdn alert list\` shows all`),
  ]);
}
