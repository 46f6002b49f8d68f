import { z } from 'zod';
import { hasSecret } from '../../secrets/key-in-text.ts';
import type { Message } from '../../views/blocks/blocks.ts';
import { renderLinkChoice, renderLinkForm, renderLinkLoading } from '../../views/origin-errors/forms.ts';
import { readZonePick } from '../../views/origin-errors/menus.ts';
import { type Picture, pictureNames } from '../../views/origin-errors/pictures.ts';
import { type Question, writeQuestion } from '../../views/origin-errors/question.ts';
import { renderUnclearZone } from '../../views/zones/rows.ts';
import type { With } from '../define.ts';
import {
  type Action,
  type Answer,
  type Command,
  defineForm,
  type Feature,
  type Shortcut,
} from '../define.ts';
import type { Words } from '../words.ts';
import { findLinkedHosts } from '../zones/hosts.ts';
import { lookUpZone } from '../zones/lookup.ts';
import { answerFile, answerOverview, answerOverviewFile, answerZone, type Shown } from './answers.ts';
import { readButton, readZoneButton } from './buttons.ts';
import { findChannelZone, hereCommand } from './channel-zone.ts';
import { readFilters } from './filters.ts';
import { lastDay, readRequestedPeriod } from './period.ts';
import type { ReportServices } from './read.ts';

type Needed = ReportServices | 'names' | 'tempDirectory';

const errorsCommand: Command<Needed> = {
  name: 'errors',
  aliases: ['error', 'origin-errors'],
  usage:
    'errors [<zone>|all] [today|2026-11-20|2026-11-18..20|last 3 days|24h|90m|10:00..11:00] ' +
    '[code:… status:… path:… in:…]',
  summary: 'Which zones fail now, and why: errors by code, server zone and address, hour by hour',
  label: 'Origin errors',
  examples: ['errors', 'errors shop', 'errors shop 10:00..11:00', 'errors shop yesterday status:5xx'],
  needs: 'read',
  shares: true,
  async file(words, as, context) {
    const { typed, ...question } = await readQuestion(words, context);
    if (typed === undefined) return answerOverviewFile(question, as, context);
    const found = await lookUpZone(typed, context);
    return found.kind === 'one' ? answerFile({ ...question, zone: found.zone }, as, context) : { text: '' };
  },
  async *run(words, context) {
    const { typed, isOfChannel, ...question } = await readQuestion(words, context);
    // A new question is counted now; the buttons of the answer use the cached report.
    const shown = { fresh: true, picture: readPicture(words.named['show']), isOfChannel };
    if (typed === undefined) yield* answerOverview(question, shown, context);
    else yield await findAndAnswer(typed, question, shown, context);
  },
};

/** What was typed. `typed` is the zone, or that of the channel; undefined = all zones. @throws UserError */
async function readQuestion(words: Words, context: With<'names'>) {
  const { people, person, now } = context;
  const filters = readFilters(words);
  const profile = await people.profile(person.userId);
  const { zone, period } = readRequestedPeriod(words, now(), profile?.timeZone ?? 'UTC');
  const question = { zone: undefined, period, filters, isOfChannel: false };
  const typed = zone.trim();
  if (/^all(?: zones)?$/iu.test(typed)) return { ...question, typed: undefined };
  if (typed !== '') return { ...question, typed };
  const { id } = (await findChannelZone(context)) ?? {};
  return { ...question, typed: id, isOfChannel: id !== undefined };
}

function readPicture(typed: string | undefined): Picture | undefined {
  return pictureNames.find((name) => name === typed?.toLowerCase());
}

async function findAndAnswer(
  typed: string,
  question: Question,
  shown: Shown,
  context: With<ReportServices>,
): Promise<Message> {
  const found = await lookUpZone(typed, context);
  if (found.kind === 'one') return answerZone({ ...question, zone: found.zone }, shown, context);
  // The same days for any chosen zone, as dates, since the choice may be made tomorrow.
  const [, , ...behind] = writeQuestion(question).split(' ');
  return renderUnclearZone(found, 'errors', behind.join(' '));
}

const showZone: Action<ReportServices> = {
  id: 'origin-errors:day',
  needs: 'read',
  run(value, context) {
    const { fresh, show: picture, ...question } = readZoneButton(value, context.now());
    return answerZone(question, { fresh, picture }, context);
  },
};

const showZones: Action<'zoneCache'> = {
  id: 'origin-errors:zones',
  needs: 'read',
  run(value, context): Answer {
    const { fresh, ...question } = readButton(value, context.now());
    return answerOverview(question, { fresh }, context);
  },
};

/** Right, key and refusals are those of the command. */
const pickZone: Action = {
  id: 'origin-errors:pick',
  needs: 'none',
  runsCommand: true,
  toCommand: readZonePick,
};

const sendFile: Action<'tempDirectory' | 'zoneCache'> = {
  id: 'origin-errors:file',
  needs: 'read',
  newMessage: true,
  run(value, context) {
    const { as = 'csv', ...question } = readZoneButton(value, context.now());
    return answerFile(question, as, context);
  },
};

const sendZonesFile: Action<'tempDirectory' | 'zoneCache'> = {
  id: 'origin-errors:zones-file',
  needs: 'read',
  newMessage: true,
  run(value, context) {
    const { as = 'csv', ...question } = readButton(value, context.now());
    return answerOverviewFile(question, as, context);
  },
};

/** Looks up why a link in a message fails, without typing, and shows it to one person only. */
const lookUpLink: Shortcut<ReportServices> = {
  id: 'origin-errors:link',
  kind: 'message',
  name: 'Look up origin errors',
  description: 'Why the origin behind a link in this message fails, shown to you alone',
  needs: 'read',
  modal(message) {
    const hosts = findLinkedHosts(message);
    if (hosts.length === 0) return renderLinkForm();
    return hosts.length > 1 ? renderLinkChoice(hosts) : renderLinkLoading(hosts[0]);
  },
  run(message, context) {
    const [host, ...others] = findLinkedHosts(message);
    return host === undefined || others.length > 0 ? undefined : answerLastDay(host, context);
  },
};

export const originErrors: Feature<Needed> = {
  name: 'origin-errors',
  commands: [errorsCommand, hereCommand],
  actions: [showZone, showZones, pickZone, sendFile, sendZonesFile],
  forms: [
    defineForm({
      id: 'origin-errors:link',
      needs: 'read',
      fields: z.object({
        link: z
          .string({ error: 'Paste a link.' })
          .trim()
          .min(1, { error: 'Paste a link.' })
          .refine((typed) => findLinkedHosts(typed).length > 0 || !hasSecret(typed), {
            error: 'That looks like a key, so nothing was looked up. Paste a link without it.',
          }),
      }),
      loadingView: renderLinkLoading(),
      run: ({ link }, context) => answerLastDay(findLinkedHosts(link)[0] ?? link, context),
    }),
  ],
  shortcuts: [lookUpLink],
};

function answerLastDay(host: string, context: With<ReportServices>): Promise<Message> {
  const question = { zone: undefined, period: lastDay(context.now()), filters: {} };
  return findAndAnswer(host, question, { fresh: true }, context);
}
