import { type FilterKind, type Filters, filterKinds } from '../../api/origin-errors/filters.ts';
import { computeRights } from '../../auth/policy/policy.ts';
import { UserError } from '../../errors.ts';
import { dayMs, hourMs } from '../../lib/time.ts';
import { toLocalTime } from '../../lib/time-zone.ts';
import type { Message } from '../../views/blocks/blocks.ts';
import { formatCount } from '../../views/blocks/format.ts';
import { type Period, rollBack } from '../../views/blocks/period.ts';
import { formatCode } from '../../views/blocks/text.ts';
import { renderChannelZone } from '../../views/names.ts';
import {
  pictureNames,
  type ReportView,
  renderFile,
  renderLinkChoice,
  renderLinkLoading,
  renderNoFile,
  renderNoLink,
  renderOriginErrors,
} from '../../views/origin-errors/origin-errors.ts';
import { renderOverview, renderReading } from '../../views/origin-errors/overview.ts';
import {
  maxFilters,
  type Question,
  readZonePick,
  wordsBehindZone,
  writeFilters,
} from '../../views/origin-errors/question.ts';
import { type SharedFile, sharedFiles } from '../../views/share.ts';
import { everyZone, renderNoZones } from '../../views/zones/list.ts';
import { quoteWord, renderUnclearZone } from '../../views/zones/rows.ts';
import type { Command, Context, Feature, Shortcut } from '../define.ts';
import { findClosest } from '../did-you-mean.ts';
import { offerPeriods, type PeriodClock } from '../moments.ts';
import { assertAdminFor } from '../operations/propose.ts';
import { splitZone } from '../periods.ts';
import { type Token, toWords, type Words } from '../words.ts';
import { findLinkedHosts } from '../zones/hosts.ts';
import { lookUpZone, readZoneNames } from '../zones/lookup.ts';
import {
  createReport,
  findCachedOverview,
  findCachedReport,
  findChannelZone,
  isChannel,
  readOverview,
  writeEntries,
} from './read.ts';

const errorsCommand: Command = {
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
  file: sendFile,
  async *run(words, context) {
    const as = sharedFiles.find((kind) => kind === words.named['as']);
    if (as) return yield await sendFile(words, as, context);
    const { typed, question, ...view } = await readQuestion(words, context);
    // A typed question is counted now; the buttons of an answer show what is cached.
    const isFresh = words.named['seen'] === undefined;
    const picture = pictureNames.find((name) => name === words.named['show']?.toLowerCase()) ?? 'kinds';
    if (typed === undefined) yield* answerOverview(question, isFresh, view, context);
    else yield await findAndAnswer(typed, question, { ...view, picture, isFresh }, context);
  },
};

async function readQuestion(typedWords: Words, context: Context) {
  const words = nameFilters(await readZoneNames(typedWords, [...filterKinds, ...otherNames], context));
  const filters = readFilters(words);
  const view = await readView(context);
  const { zone, period } = readRequestedPeriod(words, context.now(), view.timeZone ?? 'UTC');
  const asked = { ...view, question: { zone: undefined, period, filters } };
  // `with status 502`
  const typed = zone.replace(filters.status ? /^(?:(?:with|status|only)(?: |$))+/iu : '', '').trim();
  // A zone of that name is typed in quotes.
  const isEvery = /^(?:(?:in|for|of|on) )?(?:all(?: (?:the|my))?(?: zones)?|everything)$/iu.test(typed);
  if (isEvery && !words.quoted?.includes(true)) return { ...asked, typed: undefined };
  if (typed !== '') return { ...asked, typed };
  const { id } = (await findChannelZone(context)) ?? {};
  return { ...asked, typed: id, isOfChannel: id !== undefined };
}

/** `502 shop in DE http_timeout` → `status:502 shop in:DE code:http_timeout` */
function nameFilters({ raw, tokens }: Words): Words {
  const named = tokens.flatMap((token, nth): Token[] => {
    if (readPlain(token, /^(in)$/iu) && readPlain(tokens[nth + 1], place)) return [];
    if (readPlain(token, /^(code)$/iu) && readPlain(tokens[nth + 1], code)) return [];
    if (token.name === 'zone')
      return [{ typed: token.typed, text: token.value, value: token.value, quoted: true }];
    const server = readPlain(tokens[nth - 1], /^(in)$/iu) && readPlain(token, place);
    // `not 502` and `without code dns_lookup` are no filters that there are.
    const before = tokens[readPlain(tokens[nth - 1], /^(code)$/iu) ? nth - 2 : nth - 1];
    const isExcluded = readPlain(before, /^(not|without|except)$/iu) !== undefined;
    const known = isExcluded ? undefined : readPlain(token, code);
    const isName = nth === 1 && readPlain(tokens[0], /^(zone)$/iu) !== undefined;
    const value = server ?? (isExcluded || isName ? undefined : readPlain(token, /^([45](?:\d\d|xx))s?$/iu));
    const name = server === undefined ? 'status' : 'in';
    if (known !== undefined) return [{ ...token, text: `code:${known}`, name: 'code', value: known }];
    return [value === undefined ? token : { ...token, text: `${name}:${value}`, name, value }];
  });
  return toWords(raw, named);
}

const place = /^([A-Z]{2})$/u;
/** Codes of the CDN that are no zone's name. */
const code = /^(dns_lookup|http_timeout|http_request_failure|network_socket_exception)$/iu;

function readPlain(token: Token | undefined, shape: RegExp): string | undefined {
  return token === undefined || token.quoted || token.name ? undefined : shape.exec(token.text)?.[1];
}

type View = Awaited<ReturnType<typeof readView>>;

async function readView({ people, person, now }: Context) {
  const { timeZone } = (await people.profile(person.userId)) ?? {};
  return { today: toLocalTime(timeZone ?? 'UTC', now()).day, timeZone };
}

async function findAndAnswer(
  typed: string,
  question: Question,
  { isFresh, ...view }: ReportView & { readonly isFresh: boolean },
  context: Context,
): Promise<Message> {
  const found = await lookUpZone(typed, context);
  // The same days for any chosen zone, as dates, since the choice may be made tomorrow.
  if (found.kind !== 'one') return renderUnclearZone(found, 'errors', wordsBehindZone(question));
  const asked = { ...question, zone: found.zone };
  const cached = isFresh ? undefined : findCachedReport(asked, context).value;
  return renderOriginErrors(cached ?? (await createReport(asked, context)), view);
}

async function* answerOverview(
  question: Question,
  isFresh: boolean,
  view: View,
  context: Context,
): AsyncGenerator<Message, void> {
  const cached = isFresh ? undefined : findCachedOverview(question, context).value;
  if (cached) return yield renderOverview(cached, view);
  let isRead = false;
  for await (const overview of readOverview(question, context)) {
    if (overview.of === 0) return yield renderNoZones(everyZone, { account: 0, skipped: 0, unknown: 0 });
    yield isRead ? renderOverview(overview, view) : renderReading(overview, view);
    isRead = true;
  }
}

/** Every entry that the answer counted: the logs are read again, without what came after it. */
async function sendFile(words: Words, as: SharedFile, context: Context): Promise<Message> {
  const { typed, question, today } = await readQuestion(words, context);
  if (typed === undefined)
    throw new UserError(
      'A file holds the errors of one zone.',
      'Open a zone first, or name it: `errors shop`.',
    );
  const found = await lookUpZone(typed, context);
  if (found.kind !== 'one') return { text: '' };
  const asked = { ...question, zone: found.zone };
  const { value: report } = findCachedReport(asked, context);
  const counted = report ? { ...asked, period: report.period } : asked;
  const asOf = report?.takenAt ?? context.now();
  // The CDN's clock may be ahead of ours.
  const until = report && Math.max(asOf.getTime(), report.counts.last ?? 0);
  const file = await writeEntries(counted, as, until, context);
  return file ? renderFile({ question: counted, today, as, asOf, ...file }) : renderNoFile(counted, today);
}

const lookUpLink: Shortcut = {
  id: 'origin-errors:link',
  needs: 'read',
  modal(message) {
    const [host, ...others] = findLinkedHosts(message);
    if (host === undefined) return renderNoLink();
    return others.length > 0 ? renderLinkChoice([host, ...others]) : renderLinkLoading(host);
  },
  run(message, context) {
    const [host, ...others] = findLinkedHosts(message);
    return host === undefined || others.length > 0 ? undefined : answerLastDay(host, context);
  },
};

async function answerLastDay(host: string, context: Context): Promise<Message> {
  const question = { zone: undefined, period: rollBack(24 * 60, context.now()), filters: {} };
  const view = { ...(await readView(context)), picture: 'kinds', isFresh: true } as const;
  return findAndAnswer(host, question, view, context);
}

/** The zone that `/cdn errors` means in a channel: admins and operators set it, everybody sees it. */
const hereCommand: Command = {
  name: 'here',
  aliases: ['channel'],
  usage: 'here [zone <zone>|none]',
  summary: 'Zone of this channel: `/cdn errors` alone shows its errors here',
  examples: ['here', 'here zone shop', 'here none'],
  needs: 'read',
  async run(typedWords, context) {
    const channel = readChannel(context);
    const { list, named } = await readZoneNames(typedWords, ['was'], context);
    const words = list[0]?.toLowerCase() === 'zone' ? list.slice(1) : list;
    const typed = words.join(' ').trim();
    if (typed === '') {
      const [zone, canSet] = await Promise.all([findChannelZone(context), isAllowedToSet(context)]);
      return renderChannelZone(channel, zone, { canSet });
    }
    if (!(await isAllowedToSet(context)))
      await assertAdminFor('only admins and operators set the zone of a channel.', '', context);
    const zone = ['none', 'remove', 'clear'].includes(typed.toLowerCase()) ? '' : typed;
    return setZone(channel, zone, named['was'], context);
  },
};

function readChannel({ channelId }: Context): string {
  if (isChannel(channelId)) return channelId;
  throw new UserError('This is not a channel.', 'Type it in the channel itself.');
}

/** Asked afresh, since everybody in the channel sees the change. */
async function isAllowedToSet({ authorizer, channelId }: Context): Promise<boolean> {
  const actor = await authorizer.actor({ fresh: true });
  const { operator, admin } = computeRights(await authorizer.policy({ fresh: true }), actor, channelId);
  return operator || admin;
}

/** `was`: what the button of an undo takes back. */
async function setZone(
  channel: string,
  typed: string,
  was: string | undefined,
  context: Context,
): Promise<Message> {
  const { names, person } = context;
  const before = await findChannelZone(context);
  const found = typed === '' ? undefined : await lookUpZone(typed, context);
  if (found && found.kind !== 'one') return renderUnclearZone(found, 'here zone');
  const zone = found && { id: found.zone.id, name: found.zone.name, by: person.userId };
  if (!(await names.setChannelZone(person, channel, zone, was)))
    throw new UserError(
      `Somebody changed the zone of <#${channel}> since, so nothing was undone.`,
      '`/cdn here` shows it.',
    );
  const undo = was === undefined ? `here zone ${before?.id ?? 'none'} was:${zone?.id ?? 'none'}` : '';
  return renderChannelZone(channel, zone, { canSet: true, undo });
}

export const originErrors: Feature = {
  name: 'origin-errors',
  commands: [errorsCommand, hereCommand],
  // Right, key and refusals are those of the command.
  actions: [
    {
      id: 'origin-errors:day',
      needs: 'none',
      runsCommand: true,
      newMessage: false,
      toCommand: (_actionId, words) => words,
    },
    { id: 'origin-errors:file', needs: 'none', runsCommand: true, toCommand: (_actionId, words) => words },
    { id: 'origin-errors:pick', needs: 'none', runsCommand: true, toCommand: readZonePick },
  ],
  shortcuts: [lookUpLink],
};

/** Of the CDN's logs, one a UTC day, so many are read at once. */
const maxDays = 7;

/** `shop last 3 days`, `shop 90m`; the last 24 hours by default. @throws UserError for words that are not a time */
export function readRequestedPeriod(
  words: Pick<Words, 'list' | 'quoted'>,
  now: Date,
  timeZone: string,
): { zone: string; period: Period } {
  const clock: PeriodClock = { now, timeZone, command: 'errors' };
  const { zone, period } = splitZone(words, clock);
  return { zone, period: period ? limitPeriod(period, clock, zone) : rollBack(24 * 60, now) };
}

/** The period, unless it has more days than can be read at once. @throws UserError */
export function limitPeriod(period: Period, clock: PeriodClock, zone = ''): Period {
  const length = period.to - period.from;
  // The day on which clocks are put back is longer, and the last minute has just begun.
  if (length <= maxDays * dayMs + hourMs) return period;
  const days = Math.max(maxDays + 1, Math.round(length / dayMs));
  throw new UserError(
    `Origin errors can be read for ${formatCount(maxDays, 'day')} at once, not for ${formatCount(days, 'day')}.`,
    `Type \`last ${formatCount(maxDays, 'day')}\`, or one day.`,
    zone === '' ? undefined : offerPeriods(clock, zone, [`last ${formatCount(maxDays, 'day')}`, 'yesterday']),
  );
}

const examples: Readonly<Record<FilterKind, string>> = {
  code: 'code:http_timeout',
  status: 'status:502` or `status:5xx',
  path: 'path:/img/*',
  in: 'in:DE',
};

/** In addition to the filters: the picture, and in our own buttons a file, or the counts so far. */
const otherNames = ['show', 'as', 'seen'];

/** `code:http_timeout status:5xx`; commas separate values. @throws UserError for another word with a colon or value */
export function readFilters(words: Pick<Words, 'list' | 'pairs'>): Filters {
  const found: Partial<Record<FilterKind, string[]>> = {};
  for (const [kind, typed] of words.pairs) {
    if (otherNames.includes(kind)) continue;
    if (!isFilter(kind)) throw createNameError(kind, words);
    const values = kind === 'path' ? [typed] : typed.split(',');
    for (const value of values) {
      const read = readValue[kind](value.trim());
      if (read === undefined) throw createValueError(kind, value.trim());
      if (!found[kind]?.includes(read)) (found[kind] ??= []).push(read);
    }
  }
  if (writeFilters(found).length <= maxFilters) return found;
  throw new UserError(
    `These filters are too long: at most ${formatCount(maxFilters, 'character')} in all.`,
    'Type fewer, or the beginning of a path: `path:/img/*`.',
  );
}

function isFilter(name: string): name is FilterKind {
  return filterKinds.some((kind) => kind === name);
}

function createValueError(kind: FilterKind, value: string): UserError {
  return new UserError(
    value === ''
      ? `Nothing follows \`${kind}:\`.`
      : `${formatCode(`${kind}:${value}`, 60)} cannot match an origin error.`,
    `Type it like \`${examples[kind]}\`.`,
  );
}

const readValue: Readonly<Record<FilterKind, (typed: string) => string | undefined>> = {
  code: (typed) => (/^[\w.-]{1,100}$/u.test(typed) ? typed.toLowerCase() : undefined),
  status: (typed) => (/^[1-9](?:\d\d|\dx|xx)$/iu.test(typed) ? typed.toLowerCase() : undefined),
  path: readPath,
  in: (typed) => (/^[\w-]{1,20}$/u.test(typed) ? typed.toUpperCase() : undefined),
};

/** Pasted addresses come with a scheme and a query; a folder may come without its first slash. */
function readPath(typed: string): string | undefined {
  const path = typed.replace(/^[a-z][a-z\d+.-]*:\/\//iu, '').replace(/[?#].*$/u, '');
  if (path === '' || /\s/u.test(path)) return undefined;
  return /^[/*]/u.test(path) || /^[^/]+\.[^/]+\//u.test(path) ? path : `/${path}`;
}

function createNameError(name: string, { list, pairs }: Pick<Words, 'list' | 'pairs'>): UserError {
  const [near] = findClosest(name, [...filterKinds, 'show'], 1);
  const filters = pairs.map(([other, value]) => `${other === name ? near : other}:${quoteWord(value)}`);
  return new UserError(
    `\`/cdn errors\` does not know ${formatCode(`${name}:`, 40)}.`,
    near
      ? `Did you mean \`${near}:\`?`
      : `It knows ${filterKinds.map((kind) => `\`${examples[kind]}\``).join(', ')}.`,
    near
      ? [{ label: `With ${near}:`, types: ['errors', ...list.map(quoteWord), ...filters].join(' ') }]
      : undefined,
  );
}
