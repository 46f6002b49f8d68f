import type { KnownBlock, ModalView, PlainTextOption } from '@slack/types';
import type { Observation } from '../../../commands/reports/watches/conditions/condition.ts';
import {
  type ConditionName,
  conditions,
  findCondition,
} from '../../../commands/reports/watches/conditions/list.ts';
import type { Watch, WatchSubject } from '../../../commands/reports/watches/model.ts';
import { actions, context, type FormResult, section } from '../../blocks/blocks.ts';
import { button } from '../../blocks/buttons.ts';
import { formatInteger } from '../../blocks/format.ts';
import {
  channelSelect,
  checkbox,
  formResult,
  input,
  modal,
  multiSearchSelect,
  numberInput,
  option,
  searchSelect,
  select,
  textInput,
} from '../../blocks/inputs.ts';
import { capitalize, escapeMrkdwn, formatCode, type Maybe } from '../../blocks/text.ts';
import { formatRunTime } from '../digests/schedule.ts';
import { formatPlace } from '../schedules/words.ts';
import { listParts } from './incident.ts';
import { describeEvery, describeSubject } from './words.ts';

/** The form's fields by name, as far as they are filled in. */
export interface FormValues {
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

export const mostTargets = 20;
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

/** Opens at once; its content follows. */
export function watchSkeleton(title = 'Watch'): ModalView {
  return modal({ title, callbackId: 'watches:opening' }, [section(':hourglass_flowing_sand: One moment…')]);
}

export function renderWatchForm(
  values: FormValues,
  about: { readonly note?: string | undefined; readonly says?: string | undefined },
): ModalView {
  const { condition: name, timezone, people, groups } = values;
  const condition = findCondition(name);
  const { target, threshold, window, leastEvery = 5, missingTarget, withoutTarget } = condition;
  // An input that must show another value gets another block id, since Slack keeps the input of an unchanged one.
  return modal(
    {
      title: about.note === undefined ? 'New watch' : 'Edit the watch',
      callbackId: 'watches:submit',
      metadata: about.note,
      submit: 'Save',
    },
    [
      about.says && section(about.says),
      select(
        'condition',
        'Speak when',
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
        select(`window:${name}`, 'Counted together', asOptions(windowChoices, describeSpan), {
          chosen: values.window,
        }),
      select(
        `every:${leastEvery}`,
        'Looks',
        asOptions(
          everyChoices.filter((one) => one >= leastEvery),
          describeEvery,
        ),
        { chosen: values.every },
      ),
      channelSelect('channel', 'Where', {
        chosen: values.channel,
        optional: true,
        hint: 'Everybody in there sees what your key can read. Empty = your own conversation with the bot.',
      }),
      input(
        'people',
        'Names',
        { type: 'multi_users_select', max_selected_items: mostNamed, initial_users: [...people] },
        { optional: true, hint: 'Mentioned when it begins.' },
      ),
      multiSearchSelect('groups', 'Names user groups', mostNamed, {
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
      checkbox('lifeSign', 'Sign of life', option('Say every day at 09:00 that it looks', 'on'), {
        checked: values.lifeSign,
      }),
      actions(button('Try it now', 'watches:try', 'try')),
    ],
  );
}

function asOptions(minutes: readonly number[], label: (minutes: number) => string): PlainTextOption[] {
  return minutes.map((one) => option(label(one), String(one)));
}

const mostEvidence = 12;

/** What a look finds with what is filled in. */
export function renderTried({ parts, evidence }: Observation<unknown>, subject: WatchSubject): ModalView {
  const found =
    parts.length === 0
      ? ':white_check_mark: *Nothing is wrong now.*'
      : `:rotating_light: *${formatInteger(parts.length)} wrong now:*`;
  const lines = evidence
    .slice(0, mostEvidence)
    .map(
      ({ name, is, wrongIf, isWrong }) =>
        `${isWrong ? ':red_circle:' : ':white_circle:'} *${escapeMrkdwn(name, 60)}*: ${escapeMrkdwn(is)}${wrongIf === undefined ? '' : ` (wrong if ${escapeMrkdwn(wrongIf)})`}`,
    );
  const more = evidence.length - lines.length;
  return renderOnTop([
    section([found, ...listParts(parts)]),
    lines.length > 0 && section(lines),
    context([capitalize(describeSubject(subject)), more > 0 && `and ${formatInteger(more)} more figures`]),
  ]);
}

export function renderNotYet(problems: readonly string[]): ModalView {
  return renderOnTop([
    section([':warning: *Not yet*', ...problems.map((line) => `• ${line}`)]),
    context('Go back and fix that.'),
  ]);
}

function renderOnTop(blocks: readonly Maybe<KnownBlock>[]): ModalView {
  return modal({ title: 'Try it now', callbackId: 'watches:tried', close: 'Back' }, blocks);
}

/** `10 minutes`, `3 hours` */
function describeSpan(minutes: number): string {
  if (minutes < 60) return `${minutes} minutes`;
  return minutes === 60 ? '1 hour' : `${minutes / 60} hours`;
}

export function renderSaved({ id, paused, subject, channel, nextDue }: Watch): FormResult {
  const text = paused ? `Saved: the watch ${id} stays paused.` : `Saved: ${describeSubject(subject)}.`;
  return formResult({ title: 'Watch', callbackId: 'watches:done' }, text, [
    section(`:white_check_mark: ${text}`),
    !paused &&
      nextDue &&
      section(
        `It tells ${formatPlace(channel)} when that begins, changes or ends. First look: ${formatRunTime(nextDue, subject.timeZone)}.`,
      ),
    actions(button('Look now', 'watches:look', id)),
    context(`Watch ${formatCode(id)} · it looks with your key · \`/cdn watch list\` shows all`),
  ]);
}
