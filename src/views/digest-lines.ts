import type { Collected } from '../reports/digest.ts';
import { isFailing } from '../reports/digest-apps.ts';
import type {
  AppFigures,
  Compared,
  ErrorFigures,
  ScanFigures,
  ZoneFigures,
} from '../reports/digest-figures.ts';
import { moved, noise } from '../reports/digest-series.ts';
import { shortDay } from './chart-days.ts';
import { added, comparison, exact, isNothing } from './digest-change.ts';
import { daysBefore } from './digest-findings.ts';
import { bytes, money, percent } from './numbers.ts';
import { runWords } from './schedule.ts';
import { count, grouped } from './text.ts';

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
      `*${count(zones, 'zone')}*`,
      used === undefined ? 'bandwidth not reported' : `${bytes(used)} this month`,
      charges === undefined
        ? 'charges not reported'
        : `${money(charges)} so far${added(charges, since?.charges, money)}`,
      ...(attention > 0
        ? [`:warning: ${grouped(attention)} ${attention === 1 ? 'needs' : 'need'} attention`]
        : []),
      ...(skipped > 0 ? [`:warning: ${count(skipped, 'zone')} could not be read`] : []),
    ].join(' · '),
    compared: total(perDay, chargesPerDay),
  };
}

/** Of bandwidth, unless only the charges moved. */
function total(perDay: Compared | undefined, charges: Compared | undefined): string {
  const isMoved = perDay !== undefined && moved(perDay, noise.bytes);
  if (charges && !isMoved && moved(charges, noise.dollars))
    return sentence(`${money(charges.now)} a day`, comparison(charges, money));
  return perDay && !isNothing(perDay)
    ? sentence(`${bytes(perDay.now)} a day`, comparison(perDay, bytes))
    : '';
}

function errorLine(errors: ErrorFigures, timeZone: string): Line {
  const { total, perDay, read, asked, of, zones, from, since } = errors;
  const failing = zones.filter((zone) => zone.total > 0).length;
  const atLeast = total > 0 && (read < asked || zones.some(({ partial }) => partial)) ? 'At least ' : '';
  const when = since === undefined ? 'in 24 hours' : `since ${runWords(new Date(from), timeZone)}`;
  const where = of === 1 ? '' : `, in ${grouped(failing)} of ${count(read, 'zone')}`;
  return {
    number: `*${atLeast}${total === 0 ? 'No origin errors' : count(total, 'origin error')}* ${when}${total > 0 ? where : ''}${read < asked ? ` (${grouped(read)} of ${count(asked, 'log')} read)` : ''}${asked < of ? ` (the busiest of ${grouped(of)})` : ''}`,
    compared: isNothing(perDay) ? '' : sentence(`${exact(perDay.now)} a day`, comparison(perDay, exact)),
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
    last === undefined ? '' : days > 1 ? ` in ${days} days to ${shortDay(last)}` : ` on ${shortDay(last)}`;
  const share =
    blocked !== undefined && scanned !== undefined && scanned > 0 && blocked <= scanned
      ? ` (${percent(blocked, scanned)})`
      : '';
  const files =
    scanned === undefined
      ? 'files scanned: not reported'
      : `${count(scanned, 'file')} scanned${when}${share}`;
  if (blocked === undefined && scanned === undefined)
    return { number: '*Upload scanning:* nothing reported', compared: '' };
  const of =
    blocked === undefined ? '*Blocked uploads:* not reported' : `*${count(blocked, 'upload')} blocked*`;
  return {
    number: `${of} · ${files}`,
    compared:
      only?.perDay && !isNothing(only.perDay)
        ? sentence(
            `${exact(only.perDay.now)} blocked a day`,
            comparison(only.perDay, exact, daysBefore(only.days)),
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
      `*${count(apps.length, 'app')}*${more > 0 ? ` of ${grouped(apps.length + more)}` : ''}`,
      ...(apps.length === 0
        ? []
        : [cost === undefined ? 'cost not reported' : `${money(cost)} a month${added(cost, before, money)}`]),
      ...(latency ? [`latency ${exact(latency.now)}`] : []),
      ...(failing > 0 ? [`:red_circle: ${grouped(failing)} failing`] : []),
    ].join(' · '),
    compared: latency ? sentence('Latency', comparison(latency, exact)) : '',
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
