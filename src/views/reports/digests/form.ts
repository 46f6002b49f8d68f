import type { KnownBlock, ModalView, PlainTextOption } from '@slack/types';
import { targetTypes } from '../../../commands/reports/digests/kinds/kind.ts';
import { type DigestKindName, digestKinds } from '../../../commands/reports/digests/kinds/list.ts';
import type { Digest, DigestOrder } from '../../../commands/reports/digests/model.ts';
import { actions, context, type FormResult, type Message, say, section } from '../../blocks/blocks.ts';
import { button } from '../../blocks/buttons.ts';
import {
  channelSelect,
  formResult,
  input,
  modal,
  multiSearchSelect,
  multiSelect,
  numberInput,
  option,
  searchSelect,
  select,
} from '../../blocks/inputs.ts';
import { replaceNativeBlocks } from '../../blocks/native.ts';
import { formatCode } from '../../blocks/text.ts';
import type { RenderedDigest } from './post.ts';
import { describeNextRuns } from './schedule.ts';
import { describeOrder, describeTroubles } from './words.ts';

/** The form's fields by name, as far as they are filled in. */
export interface FormValues {
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

/** Opens at once; its content follows. */
export function digestSkeleton(title = 'Digest'): ModalView {
  return modal({ title, callbackId: 'digests:opening' }, [section(':hourglass_flowing_sand: One moment…')]);
}

export function renderDigestForm(
  { kind, target, channel, days, time, repeat, timezone, only, above }: FormValues,
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
      title: about.note === undefined ? 'New digest' : 'Edit the digest',
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
      multiSearchSelect('target', 'Of what', mostTargets, {
        optional: true,
        hint: 'Type a zone’s name, or the id of a shield zone or app. Empty = every zone and its apps; origin errors of the 25 busiest.',
        placeholder: 'Zones, shield zones, apps',
        chosen: target.map((one) => targetOption(one)),
      }),
      channelSelect('channel', 'Where', {
        chosen: channel,
        hint: 'Everybody in there sees what your key can read. Invite the bot first.',
      }),
      multiSelect('days', 'Days', dayOptions(), { chosen: days, dispatch: true }),
      input('time', 'Time', { type: 'timepicker', initial_time: time }, { dispatch: true }),
      select('repeat', 'Again that day', repeats, { chosen: repeat, dispatch: true, optional: true }),
      searchSelect('timezone', 'Time zone', { chosen: option(timezone, timezone), dispatch: true }),
      context(about.next),
      select('only', 'Post', thresholds, { chosen: only, dispatch: true, optional: true }),
      only === 'above' &&
        numberInput('above', 'Above', [0, mostAbove], {
          hint: `How many ${describeTroubles(kind)}: it posts from one more on. 0 = if there are any.`,
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

export function renderSaved(digest: Digest, now: Date): FormResult {
  const { id, paused, schedule } = digest;
  const text = paused ? `Saved: the digest ${id} stays paused.` : `Saved: ${describeOrder(digest)}.`;
  return formResult({ title: 'Digest', callbackId: 'digests:done' }, text, [
    section(`:white_check_mark: ${text}`),
    !paused && section(describeNextRuns(schedule, now)),
    actions(button('Run now', 'digests:run', id)),
    context(`Digest ${formatCode(id)} · it runs with your key · \`/cdn digest list\` shows all`),
  ]);
}

/** For the channel of a new or moved digest. */
export function renderAnnouncement(digest: Digest, by: string): Message {
  const text = `<@${by}> sends a digest here: ${describeOrder(digest)}.`;
  return say(text, context(`Digest ${formatCode(digest.id)} · it shows what <@${by}>’s key can read`));
}

const mostBlocks = 100;

/** The post as the channel would see it, then its thread; charts in words, since a modal takes none. */
export function renderPreviewed({ top, thread, quiet }: RenderedDigest, order: DigestOrder): ModalView {
  const blocks = replaceNativeBlocks([
    quiet && section(':zipper_mouth_face: *It would stay silent now:* its threshold is not reached.'),
    ...(top.blocks ?? []),
    thread.length > 0 && { type: 'divider' },
    thread.length > 0 && context('*In its thread*'),
    ...thread.flatMap((shown) => shown.blocks ?? []),
  ]);
  const footer = context(`Only you see this. ${describeOrder(order)}.`);
  return renderPreview([...blocks.slice(0, mostBlocks - 1), footer]);
}

export function renderNotYet(problems: readonly string[]): ModalView {
  return renderPreview([
    section([':warning: *Not yet*', ...problems.map((line) => `• ${line}`)]),
    context('Go back and fix that.'),
  ]);
}

function renderPreview(blocks: KnownBlock[]): ModalView {
  return modal({ title: 'Preview', callbackId: 'digests:previewed', close: 'Back' }, blocks);
}
