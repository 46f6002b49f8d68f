import type { Attention } from '../reports/attention.ts';
import type { Compared, Some } from '../reports/digest-figures.ts';
import type { Finding } from '../reports/digest-findings.ts';
import { shortDay } from './chart-days.ts';
import { comparison, exact, nameOf, names } from './digest-change.ts';
import { bytes, money } from './numbers.ts';
import { code, count as countOf, foreign, grouped } from './text.ts';

/** A change in one line; undefined where it is told beside the number of everything. `most`: as many names. */
export function findingLine(finding: Finding, most: number): string | undefined {
  switch (finding.kind) {
    case 'became':
      return `${signs[finding.state]} ${counted(finding.zones, became[finding.state], most)}`;
    case 'recovered':
      return `:white_check_mark: ${counted(finding.zones, recovered[finding.state], most)}`;
    case 'joined':
      return `:heavy_plus_sign: ${counted(finding.zones, 'new', most)}`;
    case 'left':
      return `:heavy_minus_sign: ${counted(finding.zones, 'gone', most)}`;
    case 'limit':
      return limitLine(finding.limit);
    case 'fresh': {
      const { code: word, count, zones } = finding.fresh;
      return `:new: ${code(word, 60)} ${countOf(count, 'time')} in ${names(zones, most)}`;
    }
    case 'traffic': {
      const { zone, perDay } = finding;
      return `${isUp(perDay) ? ':chart_with_upwards_trend:' : ':chart_with_downwards_trend:'} *${nameOf(zone)}*: ${bytes(perDay.now)} a day, ${comparison(perDay, bytes)}`;
    }
    case 'errors': {
      const { zone, perDay } = finding;
      if (perDay.now === 0) return `:white_check_mark: *${nameOf(zone)}*: no errors any more`;
      const sign = isUp(perDay) ? ':boom:' : ':arrow_down:';
      return `${sign} *${nameOf(zone)}*: ${exact(perDay.now)} errors a day, ${comparison(perDay, exact)}`;
    }
    case 'blocked': {
      const { id, perDay, days } = finding.scan;
      const rate = perDay ? `${exact(perDay.now)} blocked a day` : 'blocked uploads';
      return `:no_entry: Shield zone ${foreign(id, 20)}: ${rate}, ${perDay ? comparison(perDay, exact, daysBefore(days)) : ''}`;
    }
    case 'status': {
      const { id, status = '', wasStatus = '' } = finding.app;
      return `${failing.has(status) ? ':red_circle:' : ':arrows_counterclockwise:'} App ${code(id, 40)} is ${foreign(status, 30)}, was ${foreign(wasStatus, 30)}`;
    }
    case 'latency': {
      const { id, latency, average } = finding.app;
      const [what, told] = latency?.usual === undefined && average ? ['average ', average] : ['', latency];
      return `:snail: App ${code(id, 40)}: ${what}latency ${exact(told?.now ?? 0)}, ${told ? comparison(told, exact) : ''}`;
    }
    case 'cost': {
      const { id, cost } = finding.app;
      return cost && `:moneybag: App ${code(id, 40)}: ${money(cost.now)} a month, ${comparison(cost, money)}`;
    }
    case 'volumes': {
      const { id, volumes } = finding.app;
      return (
        volumes &&
        `:floppy_disk: App ${code(id, 40)}: volumes ${gigabytes(volumes.now)}, ${comparison(volumes, gigabytes)}`
      );
    }
    case 'total':
      return undefined;
  }
}

/** `Newly disabled: shop`; of several the number first: `*3* newly disabled: shop, docs and media`. */
function counted(zones: Some, what: string, most: number): string {
  const words =
    zones.count > 1 ? `*${grouped(zones.count)}* ${what}` : what[0]?.toUpperCase() + what.slice(1);
  return `${words}: ${names(zones, most)}`;
}

/** `At this rate shop reaches its limit of 500 GB on 27 Nov`. */
export function limitLine(limit: Extract<Finding, { kind: 'limit' }>['limit']): string {
  return limit.reaches === undefined
    ? `:rotating_light: *${nameOf(limit)}* reached its limit: ${bytes(limit.used)} of ${bytes(limit.limit)}`
    : `:hourglass: At this rate *${nameOf(limit)}* reaches its limit of ${bytes(limit.limit)} on ${shortDay(limit.reaches.slice(0, 10))}`;
}

/** What the CDN's own days are compared with. */
export function daysBefore(days: number): string {
  return days > 1 ? `the ${days} days before` : 'the day before';
}

function isUp({ now, before = 0, weekBefore = before }: Compared): boolean {
  return now >= weekBefore;
}

export function gigabytes(value: number): string {
  return `${exact(value)} GB`;
}

const failing = new Set(['failing', 'suspended']);

const signs: Readonly<Record<Attention, string>> = {
  suspended: ':no_entry:',
  disabled: ':rotating_light:',
  'near-limit': ':warning:',
  'no-certificate': ':unlock:',
};

const became: Readonly<Record<Attention, string>> = {
  suspended: 'newly suspended',
  disabled: 'newly disabled',
  'near-limit': 'now above 80 % of the limit',
  'no-certificate': 'newly without certificate',
};

const recovered: Readonly<Record<Attention, string>> = {
  suspended: 'no longer suspended',
  disabled: 'enabled again',
  'near-limit': 'below 80 % of the limit again',
  'no-certificate': 'with certificate again',
};
