import { endsTooEarly } from '../../api/event-logs.ts';
import { assertKnown, decideExport } from '../../auth/policy/authorizer.ts';
import { UserError } from '../../errors.ts';
import { type FormResult, message, say, section } from '../../views/blocks/blocks.ts';
import * as views from '../../views/exports/exports.ts';
import * as forms from '../../views/exports/form.ts';
import { renderAlreadyEnded } from '../../views/exports/outcomes.ts';
import type { Action, Command, Context, Feature, Form, With } from '../define.ts';
import { rememberUse } from '../names.ts';
import { assertAllowed } from '../operations/proposals.ts';
import { readPeriod } from '../periods.ts';
import type { Words } from '../words.ts';
import { toFilterRows } from './filters.ts';
import { type AskedExport, formActions, readExport } from './form.ts';
import { defaultWindow, endsInTime } from './window.ts';

const mostListed = 10;

const exportCommand: Command<'exports' | 'names'> = {
  name: 'export',
  aliases: ['exports', 'events'],
  usage: 'export [<shieldZoneId>] [last 6h | 2026-11-20 10:00..12:00] | export list',
  summary: 'Events of a shield zone as CSV: into a channel or to yourself; `list` shows yours, to cancel one',
  label: 'Export events',
  examples: ['export 501 last 6h', 'export 501 2026-11-20 10:00..12:00', 'export list'],
  needs: 'export',
  modal: (words) => (isList(words) ? undefined : forms.exportSkeleton()),
  async load(words, context) {
    const [first = '', ...rest] = words.text.split(' ');
    const id = await context.names.resolve(context.person, 'shield', first.replace(/^#/u, ''));
    const hasZone = /^\d+$/u.test(id);
    const typed = (hasZone ? rest.join(' ') : words.text).trim();
    const form = await blank(context, hasZone ? id : '');
    return forms.renderExportForm(
      typed === '' ? form : { ...form, ...windowTyped(typed, context, form.timeZone) },
    );
  },
  async run(words, { exports, person, now }) {
    if (!isList(words)) throw new Error('the form opens instead');
    return views.renderExportList(await exports.list(person, mostListed), now());
  },
};

function isList({ list }: Words): boolean {
  return ['list', 'mine', 'running'].includes(list[0]?.toLowerCase() ?? '');
}

/** Reads a typed window; the default one and the reason if it cannot be read. */
function windowTyped(
  typed: string,
  { now }: Context,
  timeZone: string | undefined,
): Pick<forms.ExportForm, 'from' | 'to' | 'problem'> {
  try {
    const period = readPeriod(typed, { now: now(), timeZone: timeZone ?? 'UTC' });
    const window = { from: new Date(period.from), to: new Date(period.to) };
    if (!endsInTime(window, now())) throw new UserError(endsTooEarly, '');
    const swapped = 'The window you typed ends before it begins: start and end were swapped.';
    return { ...window, problem: period.isSwapped && swapped };
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return { ...defaultWindow(now()), problem: `${error.message} ${error.hint}`.trim() };
  }
}

async function blank({ person, people, now }: Context, shieldZoneId: string): Promise<forms.ExportForm> {
  const profile = await people.profile(person.userId);
  return {
    shieldZoneId,
    ...defaultWindow(now()),
    query: '',
    ...toFilterRows([]),
    channel: undefined,
    spreadsheetSafe: false,
    pseudonyms: false,
    timeZone: profile?.timeZone,
    drawn: 0,
  };
}

const form: Form<'exports' | 'names'> = {
  id: 'event-logs:submit',
  needs: 'export',
  loadingView: forms.exportBusy(),
  read: readExport,
  async run(values, context): Promise<FormResult> {
    const { request, channel, warnings, form: typed } = values as AskedExport;
    try {
      await start(request, channel, context);
      return forms.exportStarted(views.renderStarted(channel, warnings));
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      // The form comes back with its values and the problem.
      const { message: text, hint, reference } = context.explain(error);
      const problem = [text, hint, reference && `Reference ${reference}`].filter(Boolean).join('\n');
      // The form would be held back for the same secret.
      const kept = error.reference !== undefined ? { ...typed, query: '', ...toFilterRows([]) } : typed;
      return {
        modal: forms.renderExportForm({ ...kept, drawn: 0, problem }),
        message: message(text, [section([`:warning: ${text}`, hint])]),
      };
    }
  },
};

async function start(
  request: views.ExportRequest,
  channel: AskedExport['channel'],
  context: With<'exports' | 'names'>,
): Promise<void> {
  assertAllowed(await decideExport(context.authorizer, channel), context);
  // Without a key the export would fail a moment later, in the channel.
  await context.cdn();
  await context.exports.ask(context.person, request, channel);
  await rememberUse('shield', request.shieldZoneId, context);
}

/** The value of a button: an export, and the window to repeat it with. */
async function readButton(value: string, { exports, person }: With<'exports'>) {
  const [id = '', from, to] = value.split('|');
  const before = await exports.find(person, id);
  const window = { from: new Date(Number(from)), to: new Date(Number(to)) };
  if (before) return { before, window };
  throw new UserError('This export is no longer remembered.', 'Fill in the form again.', [
    { label: 'Export events', types: 'export' },
  ]);
}

/** Repeats an export, maybe with another window, with the key of the person who presses. */
const again: Action<'exports' | 'names'> = {
  id: 'event-logs:again',
  needs: 'export',
  newMessage: true,
  async run(value, context) {
    const { before, window } = await readButton(value, context);
    const { channel, request } = before;
    if (!endsInTime(window, context.now())) {
      throw new UserError(endsTooEarly, 'Choose a later one.', [
        { label: 'Export the last 24 hours', types: `export ${request.shieldZoneId} last 24h` },
      ]);
    }
    // An export to direct messages goes to the person who presses.
    await start({ ...request, ...window }, channel, context);
    return views.renderStarted(channel, []);
  },
};

/** Opens the form with the values of an export and the window of the button. */
const change: Action<'exports'> = {
  id: 'event-logs:change',
  needs: 'export',
  modal: () => forms.exportSkeleton(),
  async load(value, context) {
    const { before, window } = await readButton(value, context);
    const { request, channel } = before;
    const form = await blank(context, request.shieldZoneId);
    const isKept = endsInTime(window, context.now());
    return forms.renderExportForm({
      ...form,
      ...request,
      ...(isKept ? window : defaultWindow(context.now())),
      ...toFilterRows(request.filters),
      channel,
      problem: isKept ? undefined : `${endsTooEarly} Here it is the last 24 hours.`,
    });
  },
};

const cancel: Action<'exports'> = {
  id: 'event-logs:cancel',
  needs: 'none',
  newMessage: true,
  async run(id, context) {
    const one = await context.exports.look(context.person, id, context.message);
    if (!one) return say('This export is no longer remembered.');
    if (one.endedAt) return renderAlreadyEnded(one);
    if (one.userId !== context.person.userId && !assertKnown(await context.decide('admin')).allowed) {
      throw new UserError(`This is an export of <@${one.userId}>.`, 'They can cancel it, or an admin.');
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

export const exportFeature: Feature<'exports' | 'names'> = {
  name: 'event-logs',
  commands: [exportCommand],
  actions: [...formActions, again, change, cancel],
  forms: [form],
};
