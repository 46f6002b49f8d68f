import type {
  AppFigures,
  Comparison,
  ErrorFigures,
  ScanFigures,
  ZoneFigures,
} from '../../digests/figures/figures.ts';
import { estimateNoise, hasMoved } from '../../digests/figures/series.ts';
import { isFailing } from '../../digests/kinds/apps.ts';
import type { Collected } from '../../digests/model.ts';
import { formatShortDay } from '../blocks/date-labels.ts';
import { formatBytes, formatMoney, formatPercent } from '../blocks/numbers.ts';
import { formatInteger, pluralize } from '../blocks/text.ts';
import { describeChange, exact, formatDifference, isNothing } from './change.ts';
import { daysBefore } from './findings.ts';
import { runWords } from './schedule.ts';

/** One part of a digest in numbers: what there is, and how it compares. */
export interface Line {
  readonly number: string;
  readonly compared: string;
}

/** The number first, a line a kind. */
export function numberLines({ zones, errors, scanning, apps }: Collected, timeZone: string): Line[] {
  return [
    ...(zones ? [zoneLine(zones)] : []),
    ...(errors ? [errorLine(errors, timeZone)] : []),
    ...(scanning ? [scanLine(scanning)] : []),
    ...(apps ? [appLine(apps.apps, apps.more)] : []),
  ];
}

function zoneLine(figures: ZoneFigures): Line {
  const { zones, used, charges, attention, before, newMonth, perDay, chargesPerDay, skipped } = figures;
  const since = newMonth ? undefined : before;
  if (zones === 0 && skipped === 0) return { number: '*No zones*', compared: '' };
  return {
    number: [
      `*${pluralize(zones, 'zone')}*`,
      used === undefined ? 'bandwidth not reported' : `${formatBytes(used)} this month`,
      charges === undefined
        ? 'charges not reported'
        : `${formatMoney(charges)} so far${formatDifference(charges, since?.charges, formatMoney)}`,
      ...(attention > 0
        ? [`:warning: ${formatInteger(attention)} ${attention === 1 ? 'needs' : 'need'} attention`]
        : []),
      ...(skipped > 0 ? [`:warning: ${pluralize(skipped, 'zone')} could not be read`] : []),
    ].join(' · '),
    compared: total(perDay, chargesPerDay),
  };
}

/** Of bandwidth, unless only the charges moved. */
function total(perDay: Comparison | undefined, charges: Comparison | undefined): string {
  const isMoved = perDay !== undefined && hasMoved(perDay, estimateNoise.bytes);
  if (charges && !isMoved && hasMoved(charges, estimateNoise.dollars))
    return sentence(`${formatMoney(charges.now)} a day`, describeChange(charges, formatMoney));
  return perDay && !isNothing(perDay)
    ? sentence(`${formatBytes(perDay.now)} a day`, describeChange(perDay, formatBytes))
    : '';
}

function errorLine(errors: ErrorFigures, timeZone: string): Line {
  const { total, perDay, read, asked, of, zones, from, since } = errors;
  const failing = zones.filter((zone) => zone.total > 0).length;
  const atLeast = total > 0 && (read < asked || zones.some(({ partial }) => partial)) ? 'At least ' : '';
  const when = since === undefined ? 'in 24 hours' : `since ${runWords(new Date(from), timeZone)}`;
  const where = of === 1 ? '' : `, in ${formatInteger(failing)} of ${pluralize(read, 'zone')}`;
  return {
    number: `*${atLeast}${total === 0 ? 'No origin errors' : pluralize(total, 'origin error')}* ${when}${total > 0 ? where : ''}${read < asked ? ` (${formatInteger(read)} of ${pluralize(asked, 'log')} read)` : ''}${asked < of ? ` (the busiest of ${formatInteger(of)})` : ''}`,
    compared: isNothing(perDay) ? '' : sentence(`${exact(perDay.now)} a day`, describeChange(perDay, exact)),
  };
}

function scanLine(scanning: readonly ScanFigures[]): Line {
  const blocked = sum(scanning.map((one) => one.blocked));
  const scanned = sum(scanning.map((one) => one.scanned));
  const [only] = scanning.length === 1 ? scanning : [];
  const last = scanning
    .flatMap(({ last }) => last ?? [])
    .toSorted()
    .at(-1);
  const days = Math.max(0, ...scanning.map(({ days }) => days));
  const when =
    last === undefined
      ? ''
      : days > 1
        ? ` in ${days} days to ${formatShortDay(last)}`
        : ` on ${formatShortDay(last)}`;
  const share =
    blocked !== undefined && scanned !== undefined && scanned > 0 && blocked <= scanned
      ? ` (${formatPercent(blocked, scanned)})`
      : '';
  const files =
    scanned === undefined
      ? 'files scanned: not reported'
      : `${pluralize(scanned, 'file')} scanned${when}${share}`;
  if (blocked === undefined && scanned === undefined)
    return { number: '*Upload scanning:* nothing reported', compared: '' };
  const of =
    blocked === undefined ? '*Blocked uploads:* not reported' : `*${pluralize(blocked, 'upload')} blocked*`;
  return {
    number: `${of} · ${files}`,
    compared:
      only?.perDay && !isNothing(only.perDay)
        ? sentence(
            `${exact(only.perDay.now)} blocked a day`,
            describeChange(only.perDay, exact, daysBefore(only.days)),
          )
        : '',
  };
}

function appLine(apps: readonly AppFigures[], more: number): Line {
  const failing = apps.filter(isFailing).length;
  const cost = sum(apps.map(({ cost }) => cost?.now));
  const before = apps.every(({ cost }) => cost === undefined || cost.before !== undefined)
    ? sum(apps.map(({ cost }) => cost?.before))
    : undefined;
  const [only] = apps.length === 1 ? apps : [];
  const latency = only?.latency;
  return {
    number: [
      `*${pluralize(apps.length, 'app')}*${more > 0 ? ` of ${formatInteger(apps.length + more)}` : ''}`,
      ...(apps.length === 0
        ? []
        : [
            cost === undefined
              ? 'cost not reported'
              : `${formatMoney(cost)} a month${formatDifference(cost, before, formatMoney)}`,
          ]),
      ...(latency ? [`latency ${exact(latency.now)}`] : []),
      ...(failing > 0 ? [`:red_circle: ${formatInteger(failing)} failing`] : []),
    ].join(' · '),
    compared: latency ? sentence('Latency', describeChange(latency, exact)) : '',
  };
}

/** `52.1 GB a day: +37 % on the same weekday`. In a first run there is nothing to compare with. */
function sentence(number: string, compared: string): string {
  return compared ? `${number}: ${compared}` : '';
}

function sum(numbers: readonly (number | undefined)[]): number | undefined {
  const known = numbers.filter((one) => one !== undefined);
  return known.length === 0 && numbers.length > 0 ? undefined : known.reduce((all, one) => all + one, 0);
}
