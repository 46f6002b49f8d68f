import type { Button, KnownBlock, Overflow } from '@slack/types';
import type { Alert, Digest } from '../../commands/reports/model.ts';
import {
  canBeTakenOver,
  isChannelReason,
  type PauseReason,
  type Scheduled,
} from '../../commands/reports/model.ts';
import { actions, context, type Message, message, say, section } from '../blocks/blocks.ts';
import { button, commandButton, confirmation, connectButton } from '../blocks/buttons.ts';
import { pluralize } from '../blocks/format.ts';
import { overflow } from '../blocks/menu-of-buttons.ts';
import { formatCode, type Maybe } from '../blocks/text.ts';
import { describeCondition, describeEvery, describeSubject } from './alerts/words.ts';
import { describeNextRuns, describeSchedule, formatRunTime } from './digests/schedule.ts';
import { describeKinds, describeOrder } from './digests/words.ts';
import { describePause, formatPlace } from './words.ts';

/** The words in which digests and alerts differ. */
interface Wording<Item extends Scheduled> {
  readonly noun: 'digest' | 'alert';
  readonly plural: 'digests' | 'alerts';
  /** `zones overview every workday at 09:00` */
  readonly describeContent: (item: Item) => string;
  /** `posts zones overview every workday at 09:00` */
  readonly describe: (item: Item) => string;
  /** `It posted zones overview to #ops every workday at 09:00` */
  readonly describePast: (item: Item) => string;
  /** `Next: Mon 23 Nov 09:00` */
  readonly describeNext: (item: Item, now: Date) => string;
  /** Buttons for owner and admins, before *Pause*, *Edit* and *Delete*. */
  readonly ownButtons: (id: string) => readonly Button[];
}

const mostRows = 10;

/** Messages and buttons about who owns a digest or alert, and whether it runs. */
function createCard<Item extends Scheduled>(words: Wording<Item>) {
  const { noun, plural } = words;
  const name = (id: string): string => `The ${noun} ${formatCode(id)}`;
  const next = (item: Item, now: Date): KnownBlock[] =>
    item.paused ? [] : [context(words.describeNext(item, now))];
  const all = commandButton(`All ${plural}`, `${noun} list`);
  const resumeButton = (id: string): Button => button('Resume', `${plural}:resume`, id);
  const editButton = (id: string): Button => button('Edit', `${plural}:edit`, id);
  const deleteButton = (id: string): Button => button('Delete', `${plural}:delete`, id);
  const takeOverButton = (id: string, label = 'Take over'): Button => {
    const what = 'It will use your CDN key, and show this channel what your key can read.';
    const confirm = confirmation(`Take this ${noun} over?`, what, 'Take over', 'Cancel');
    return button(label, `${plural}:take-over:${id}`, id, { confirm });
  };
  const manageButtons = ({ id, paused }: Pick<Item, 'id' | 'paused'>): Button[] => [
    ...words.ownButtons(id),
    paused ? resumeButton(id) : button('Pause', `${plural}:pause`, id),
    editButton(id),
    deleteButton(id),
  ];
  const renderOwnRows = (items: readonly Item[]): KnownBlock[] => {
    const more = items.length - mostRows;
    const lines = items.slice(0, mostRows).map((item) => {
      const { id, channel, owner, paused } = item;
      const state = paused
        ? ` · :double_vertical_bar: *paused:* ${describePause(paused.reason, paused.by)}`
        : '';
      const readers = formatReaders(channel, owner.userId);
      return section(`${formatCode(id)} ${words.describeContent(item)}\n${readers}${state}`);
    });
    return [
      ...lines,
      ...(more > 0 ? [context(`and ${pluralize(more, `more ${noun}`, `more ${plural}`)}`)] : []),
    ];
  };

  return {
    takeOverButton,
    manageButtons,
    manageMenu: (item: Pick<Item, 'id' | 'paused'>): Maybe<Overflow | Button> =>
      overflow(...manageButtons(item)),

    /** Why it is paused and what can be done about it. `others`: other people than its owner read it. */
    renderPaused(item: Item, reason: PauseReason, { others }: { readonly others: boolean }): Message {
      const { id, owner } = item;
      const text = `${name(id)} is paused: ${describePause(reason)}.`;
      const about = `${words.describePast(item)}, with the key of <@${owner.userId}>.`;
      const isAboutKey = reason === 'key-missing' || reason === 'key-refused';
      return message(text, [
        section(`:double_vertical_bar: *${text}*\n${about}\n${nextStep(item, reason)}`),
        actions(
          others && canBeTakenOver(item) && takeOverButton(id),
          resumeButton(id),
          isAboutKey && connectButton('Connect my key'),
          editButton(id),
          deleteButton(id),
        ),
      ]);
    },
    renderPausedByHand({ id, paused }: Item): Message {
      const why = paused ? describePause(paused.reason, paused.by) : 'paused';
      const text = `${name(id)} is ${paused?.reason === 'by-hand' ? '' : 'paused: '}${why}.`;
      return say(text, actions(resumeButton(id)));
    },
    renderResumed: (item: Item, now: Date): Message =>
      say(`${name(item.id)} ${words.describe(item)}.`, ...next(item, now)),
    /** For its channel. */
    renderUnchanged: ({ id }: Item, by: string): Message =>
      say(`<@${by}> resumed the ${noun} ${formatCode(id)}: it posts here again.`),
    renderTakenOver(item: Item, by: string, now: Date): Message {
      const text = `<@${by}> took over the ${noun} ${formatCode(item.id)}. It uses their key now.`;
      return say(text, ...next(item, now));
    },
    /** It was taken over, and its channel still takes no message. */
    renderTakenOverOnly({ id, channel }: Item): Message {
      const text = `${name(id)} is yours now, but I can't post in ${formatPlace(channel)}.`;
      const what = 'Invite me there (`/invite @cdn`), or edit it and pick another channel.';
      return message(text, [section(`:warning: ${text}\n${what}`), actions(editButton(id))]);
    },
    renderDeleted({ id }: Item, minutes: number): Message {
      const undo = actions(button('Undo', `${plural}:undo`, id));
      return say(`${name(id)} is deleted.`, undo, context(`You can undo this for ${minutes} minutes.`));
    },
    renderRestored: (item: Item, now: Date): Message => say(`${name(item.id)} is back.`, ...next(item, now)),
    /** For the owner: what was paused when the app was removed. */
    renderReinstalled(items: readonly Item[], { hasKey }: { readonly hasKey: boolean }): Message {
      const isOne = items.length === 1;
      const paused = isOne
        ? `One ${noun} of yours is`
        : `${pluralize(items.length, noun, plural)} of yours are`;
      const text = `The bot is back in this workspace. ${paused} paused since it was removed.`;
      const key = hasKey ? '' : 'Your CDN key was destroyed with it: connect it again. ';
      const [whose, which] = isOne ? ['its channel', 'it'] : ['their channels', 'them'];
      return message(text, [
        section([
          `:double_vertical_bar: *${text}*`,
          `${key}Invite the bot to ${whose} (\`/invite @cdn\`), then resume ${which}.`,
        ]),
        ...renderOwnRows(items),
        actions(
          !hasKey && connectButton('Connect my key'),
          button(isOne ? 'Resume' : 'Resume all', `${plural}:resume-all`, 'uninstalled'),
          all,
        ),
      ]);
    },
    renderResumedAll(items: readonly Item[]): Message {
      const verb = items.length === 1 ? 'runs' : 'run';
      const text = `${pluralize(items.length, noun, plural)} of yours ${verb} again.`;
      return message(text, [section(`*${text}*`), ...renderOwnRows(items), actions(all)]);
    },
  };
}

function nextStep(item: Scheduled, reason: PauseReason): string {
  if (reason === 'bot-removed')
    return 'Invite the bot there (`/invite @cdn`) and resume it, or edit it and pick another channel.';
  if (isChannelReason(reason)) return 'Edit it and pick another channel.';
  if (reason === 'owner-gone') return 'Anyone who can read here can take it over with their own key.';
  return canBeTakenOver(item)
    ? 'Its owner can fix that and resume it, or anyone who can read here can take it over with their own key.'
    : 'You can resume it.';
}

export type Card<Item extends Scheduled> = ReturnType<typeof createCard<Item>>;

/** Channel and owner; once, where it is the owner's conversation. */
export function formatReaders(channel: string, owner: string): string {
  return channel === owner ? `<@${owner}> only` : `${formatPlace(channel)} · <@${owner}>`;
}

const uncapitalize = (text: string): string => `${text.charAt(0).toLowerCase()}${text.slice(1)}`;

export const digestCard = createCard<Digest>({
  noun: 'digest',
  plural: 'digests',
  describeContent: describeOrder,
  describe: (digest) => `posts ${uncapitalize(describeOrder(digest))}`,
  describePast: (digest) =>
    `It posted ${uncapitalize(describeKinds(digest))} to ${formatPlace(digest.channel)} ${describeSchedule(digest.schedule)}`,
  describeNext: ({ schedule }, now) => describeNextRuns(schedule, now),
  ownButtons: (id) => [button('Run now', 'digests:run', id)],
});

export const alertCard = createCard<Alert>({
  noun: 'alert',
  plural: 'alerts',
  describeContent: ({ subject }) => describeSubject(subject),
  describe: ({ subject, channel }) => `posts to ${formatPlace(channel)}: ${describeSubject(subject)}`,
  describePast: ({ subject, channel }) =>
    `It checked ${describeEvery(subject.every)} for ${formatPlace(channel)}: ${describeCondition(subject)}`,
  describeNext: ({ nextDue, subject }) =>
    nextDue ? `Next check: ${formatRunTime(nextDue, subject.timeZone)}` : 'No check is planned.',
  ownButtons: (id) => [button('Check now', 'alerts:check', id)],
});
