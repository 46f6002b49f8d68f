import { endsTooEarly } from '../../api/event-logs.ts';
import { assertKnown, decidePosting } from '../../auth/policy/authorizer.ts';
import { UserError } from '../../errors.ts';
import { findSecretKinds } from '../../secrets/scanner.ts';
import { type FormResult, say } from '../../views/blocks/blocks.ts';
import { formatCode } from '../../views/blocks/text.ts';
import * as views from '../../views/exports/exports.ts';
import * as forms from '../../views/exports/form.ts';
import type { Action, Command, Context, Feature, Form } from '../define.ts';
import { rememberUse } from '../names.ts';
import { assertAllowed } from '../operations/proposals.ts';
import { createPeriodError, splitPeriod } from '../periods.ts';
import { findPlace, splitTarget } from '../share.ts';
import type { Words } from '../words.ts';
import { assertExportAudience } from './failures.ts';
import {
  type AskedExport,
  correctWindow,
  defaultWindow,
  endsInTime,
  readExport,
  type Window,
  windowAction,
  writeFilters,
} from './form.ts';

const mostListed = 10;

const exportCommand: Command = {
  name: 'export',
  aliases: ['exports', 'events'],
  usage: 'export [<shieldZoneId>] [last 6h | 2026-11-20 10:00..12:00] [in #channel] | export list',
  summary: 'Events of a shield zone as CSV: into a channel or to yourself; `list` shows yours, to cancel one',
  label: 'Export events',
  examples: ['export 501 last 6h in #ops', 'export 501 2026-11-20 10:00..12:00', 'export list'],
  needs: 'export',
  modal: (words) => (isList(words) ? undefined : forms.exportSkeleton()),
  load: async (words, context) => forms.renderExportForm(await fillForm(words, context)),
  async run(words, { exports, person, now }) {
    if (!isList(words)) throw new Error('the form opens instead');
    return views.renderExportList(await exports.list(person, mostListed), now());
  },
};

function isList({ list }: Words): boolean {
  return ['list', 'mine', 'running'].includes(list[0]?.toLowerCase() ?? '');
}

/** The form filled from the typed words: `501 last 6h in #ops`. Unreadable parts keep their default, and the form says why. */
async function fillForm(words: Words, context: Context): Promise<forms.ExportForm> {
  const { words: typed, target } = splitTarget(words) ?? { words, target: undefined };
  const form = await createForm(context, '');
  const clock = { now: context.now(), timeZone: form.timeZone ?? 'UTC' };
  const problems: string[] = [];
  const note = (error: unknown): undefined => {
    if (!(error instanceof UserError)) throw error;
    problems.push(`${error.message} ${error.hint ?? ''}`.trim());
  };
  let read: ReturnType<typeof splitPeriod> | undefined;
  try {
    read = splitPeriod(typed, clock);
  } catch (error) {
    note(error);
  }
  const zone = await findZone(read?.subject ?? typed.list, context);
  const unread = read ? zone.unread.join(' ') : '';
  if (unread !== '' && zone.id !== '') note(createPeriodError(typed.list.slice(1).join(' '), clock));
  else if (unread !== '')
    problems.push(
      `I don’t know a shield zone ${formatCode(unread, 60)}. Type its number, or give it a name first: \`/cdn name shield 501 checkout\`.`,
    );
  let window: Window | undefined;
  if (read?.period && unread === '') {
    const { from, to, isSwapped } = read.period;
    window = { from: new Date(from), to: new Date(to) };
    if (!endsInTime(window, clock.now)) {
      problems.push(endsTooEarly);
      window = undefined;
    } else if (isSwapped)
      problems.push('The window you typed ended before it began: start and end were swapped.');
  }
  const place = target && (await findPlace(target.channel, context).catch(note));
  return {
    ...form,
    ...window,
    shieldZoneId: zone.id,
    channel: place?.channel,
    problem: problems.join('\n') || undefined,
  };
}

/** The shield zone that words mean, by id or name, and the words that are none. */
async function findZone(
  words: readonly string[],
  { names, person }: Context,
): Promise<{ readonly id: string; readonly unread: readonly string[] }> {
  for (const length of new Set([words.length, 1])) {
    const name = words
      .slice(0, length)
      .join(' ')
      .replace(/^#(?=\d+$)/u, '');
    const id = await names.resolve(person, 'shield', name);
    if (/^\d+$/u.test(id)) return { id, unread: words.slice(length) };
  }
  return { id: '', unread: words };
}

async function createForm({ person, people, now }: Context, shieldZoneId: string): Promise<forms.ExportForm> {
  const profile = await people.profile(person.userId);
  return {
    shieldZoneId,
    ...defaultWindow(now()),
    query: '',
    filters: '',
    channel: undefined,
    spreadsheetSafe: false,
    pseudonyms: false,
    timeZone: profile?.timeZone,
    drawn: 0,
  };
}

const form: Form = {
  id: 'event-logs:submit',
  needs: 'export',
  loadingView: forms.exportBusy(),
  read: readExport,
  async run(values, context): Promise<FormResult> {
    const { request, channel } = values as AskedExport;
    await start(request, channel, context);
    return forms.exportStarted(views.renderStarted(channel));
  },
};

async function start(
  request: views.ExportRequest,
  channel: AskedExport['channel'],
  context: Context,
): Promise<void> {
  const { authorizer, sharing } = context;
  await assertAllowed(await decidePosting(authorizer, 'export', channel), context);
  if (findSecretKinds(JSON.stringify(request)).length > 0)
    throw new UserError(
      'What you typed holds a key or token that is in use, so nothing was posted. The CDN was not asked.',
      'Fill in the form again without it: `/cdn export`.',
    );
  if (channel !== undefined) {
    const { exportChannels } = await authorizer.policy();
    assertExportAudience(channel, await sharing.readAudience(channel), exportChannels);
    if (!(await sharing.hasBot(channel)))
      throw new UserError(
        `The bot is not in <#${channel}>, so it cannot post there. The CDN was not asked.`,
        'Invite it: type `/invite @cdn` in that channel, then send the form again.',
      );
  }
  // Without a key the export would fail a moment later, in the channel.
  await context.cdn();
  await context.exports.ask(context.person, request, channel);
  await rememberUse('shield', request.shieldZoneId, context);
}

/** The export of a button. Older versions wrote a window behind its id. */
async function findPressed(value: string, { exports, person }: Context): Promise<views.ExportSummary> {
  const [id = ''] = value.split('|', 1);
  const one = await exports.find(person, id);
  if (one) return one;
  throw new UserError('This export is no longer stored.', 'Fill in the form again.', [
    { label: 'Export events', types: 'export' },
  ]);
}

/** Repeats an export with the key of the person who presses. */
const again: Action = {
  id: 'event-logs:again',
  needs: 'export',
  newMessage: true,
  async run(value, context) {
    const { channel, request } = await findPressed(value, context);
    if (!endsInTime(request, context.now())) {
      throw new UserError(endsTooEarly, 'Choose a later one.', [
        { label: 'Export the last 24 hours', types: `export ${request.shieldZoneId} last 24h` },
      ]);
    }
    // An export to direct messages goes to the person who presses.
    await start(request, channel, context);
    return views.renderStarted(channel);
  },
};

/** Opens the form with the values of an export, its window as far as the CDN has it. */
const change: Action = {
  id: 'event-logs:change',
  needs: 'export',
  modal: () => forms.exportSkeleton(),
  async load(value, context) {
    const { request, channel } = await findPressed(value, context);
    const form = await createForm(context, request.shieldZoneId);
    return forms.renderExportForm({
      ...form,
      ...request,
      ...correctWindow(request, context.now()),
      filters: writeFilters(request.filters),
      channel,
    });
  },
};

const cancel: Action = {
  id: 'event-logs:cancel',
  needs: 'none',
  newMessage: true,
  async run(id, context) {
    const one = await findPressed(id, context);
    if (one.userId !== context.person.userId && !assertKnown(await context.decide('admin')).allowed) {
      throw new UserError(
        `Not allowed yet: only <@${one.userId}>, who started this export, and admins can cancel it.`,
        'Ask them, or an admin.',
        'ask',
      );
    }
    switch (await context.exports.cancel(context.person, id)) {
      case 'cancelled':
        return say('The export was cancelled; nothing was posted.');
      case 'late':
        return say('Too late: the file is being posted.');
      case 'over':
        return say('This export has ended already.');
    }
  },
};

export const exportFeature: Feature = {
  name: 'event-logs',
  commands: [exportCommand],
  actions: [windowAction, again, change, cancel],
  forms: [form],
};
