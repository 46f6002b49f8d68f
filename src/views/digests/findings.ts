import type { Attention } from '../../api/zones/attention.ts';
import type { Comparison, Some } from '../../digests/figures/figures.ts';
import type { Finding } from '../../digests/figures/findings.ts';
import { formatShortDay } from '../blocks/date-labels.ts';
import { formatBytes, formatMoney } from '../blocks/numbers.ts';
import { pluralize as countOf, escapeMrkdwn, formatCode, formatInteger } from '../blocks/text.ts';
import { describeChange, describeName, exact, names } from './change.ts';

/** A change in one line; undefined where it is told beside the number of everything. `most`: as many names. */
export function renderFinding(finding: Finding, most: number): string | undefined {
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
      return renderLimit(finding.limit);
    case 'fresh': {
      const { code: word, count, zones } = finding.fresh;
      return `:new: ${formatCode(word, 60)} ${countOf(count, 'time')} in ${names(zones, most)}`;
    }
    case 'traffic': {
      const { zone, perDay } = finding;
      return `${isUp(perDay) ? ':chart_with_upwards_trend:' : ':chart_with_downwards_trend:'} *${describeName(zone)}*: ${formatBytes(perDay.now)} a day, ${describeChange(perDay, formatBytes)}`;
    }
    case 'errors': {
      const { zone, perDay } = finding;
      if (perDay.now === 0) return `:white_check_mark: *${describeName(zone)}*: no errors any more`;
      const sign = isUp(perDay) ? ':boom:' : ':arrow_down:';
      return `${sign} *${describeName(zone)}*: ${exact(perDay.now)} errors a day, ${describeChange(perDay, exact)}`;
    }
    case 'blocked': {
      const { id, perDay, days } = finding.scan;
      const rate = perDay ? `${exact(perDay.now)} blocked a day` : 'blocked uploads';
      return `:no_entry: Shield zone ${escapeMrkdwn(id, 20)}: ${rate}, ${perDay ? describeChange(perDay, exact, daysBefore(days)) : ''}`;
    }
    case 'status': {
      const { id, status = '', wasStatus = '' } = finding.app;
      return `${failing.has(status) ? ':red_circle:' : ':arrows_counterclockwise:'} App ${formatCode(id, 40)} is ${escapeMrkdwn(status, 30)}, was ${escapeMrkdwn(wasStatus, 30)}`;
    }
    case 'latency': {
      const { id, latency, average } = finding.app;
      const [what, told] = latency?.usual === undefined && average ? ['average ', average] : ['', latency];
      return `:snail: App ${formatCode(id, 40)}: ${what}latency ${exact(told?.now ?? 0)}, ${told ? describeChange(told, exact) : ''}`;
    }
    case 'cost': {
      const { id, cost } = finding.app;
      return (
        cost &&
        `:moneybag: App ${formatCode(id, 40)}: ${formatMoney(cost.now)} a month, ${describeChange(cost, formatMoney)}`
      );
    }
    case 'volumes': {
      const { id, volumes } = finding.app;
      return (
        volumes &&
        `:floppy_disk: App ${formatCode(id, 40)}: volumes ${gigabytes(volumes.now)}, ${describeChange(volumes, gigabytes)}`
      );
    }
    case 'total':
      return undefined;
  }
}

/** `Newly disabled: shop`; of several the number first: `*3* newly disabled: shop, docs and media`. */
function counted(zones: Some, what: string, most: number): string {
  const words =
    zones.count > 1 ? `*${formatInteger(zones.count)}* ${what}` : what[0]?.toUpperCase() + what.slice(1);
  return `${words}: ${names(zones, most)}`;
}

/** `At this rate shop reaches its limit of 500 GB on 27 Nov`. */
export function renderLimit(limit: Extract<Finding, { kind: 'limit' }>['limit']): string {
  return limit.reaches === undefined
    ? `:rotating_light: *${describeName(limit)}* reached its limit: ${formatBytes(limit.used)} of ${formatBytes(limit.limit)}`
    : `:hourglass: At this rate *${describeName(limit)}* reaches its limit of ${formatBytes(limit.limit)} on ${formatShortDay(limit.reaches.slice(0, 10))}`;
}

/** What the CDN's own days are compared with. */
export function daysBefore(days: number): string {
  return days > 1 ? `the ${days} days before` : 'the day before';
}

function isUp({ now, before = 0, weekBefore = before }: Comparison): boolean {
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
