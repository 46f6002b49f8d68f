/** In the reader's time zone. https://docs.slack.dev/messaging/formatting-message-text#date-formatting */
export function formatMoment(at: Date, form = '{date_short_pretty} {time}'): string {
  return `<!date^${Math.floor(at.getTime() / 1000)}^${form}|${formatUtc(at)}>`;
}

export function formatUtc(at: Date): string {
  return `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}

const months = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ');

export function formatShortDay(day: string): string {
  const [, month, date] = day.split('-').map(Number);
  return `${date} ${months[(month ?? 1) - 1]}`;
}

/** Moments in UTC in the shortest clear form: `3 Nov` if all are midnights, `14:00` within one day, else both. */
export function formatShortMoments(at: readonly number[]): string[] {
  const iso = at.map((ms) => new Date(ms).toISOString());
  const days = new Set(iso.map((text) => text.slice(0, 10)));
  if (iso.every((text) => text.slice(11, 19) === '00:00:00'))
    return iso.map((text) => formatShortDay(text.slice(0, 10)));
  return iso.map((text) => {
    const time = text.slice(11, 16);
    return days.size === 1 ? time : `${formatShortDay(text.slice(0, 10))} ${time}`;
  });
}

/** `22 Nov 05:51 to 11:51 UTC`: the same for every reader. */
export function formatSpan(from: Date, to: Date): string {
  const [day, lastDay] = [from, to].map((at) => formatShortDay(at.toISOString().slice(0, 10)));
  const [begin, end] = [from, to].map((at) => at.toISOString().slice(11, 16));
  return `${day} ${begin} to ${lastDay === day ? '' : `${lastDay} `}${end} UTC`;
}

/** Begins a sentence: `3 zones`, `1 zone`, `no zones`, `zones not reported`. Behind "of" or "than": `formatCount`. */
export function pluralize(count: number | undefined, one: string, many = `${one}s`): string {
  if (count === undefined) return `${many} not reported`;
  return count === 0 ? `no ${many}` : formatCount(count, one, many);
}

/** A count behind another word: `more than 0 zones`, `of 1 zone`, `in 1,000 zones`. */
export function formatCount(count: number, one: string, many = `${one}s`): string {
  return `${formatInteger(count)} ${agree(count, one, many)}`;
}

export function countOf(some: number, all: number, one: string): string {
  return `${formatInteger(some)} of ${formatCount(all, one)}`;
}

export function agree<Word>(count: number, one: Word, many: Word): Word {
  return count === 1 ? one : many;
}

/** `and 3 more`, `and 1 more zone`; empty where nothing more is. */
export function andMore(count: number, one = '', many = one && `${one}s`): string {
  return count > 0 ? `and ${formatInteger(count)} more ${agree(count, one, many)}`.trimEnd() : '';
}

export function listSome(names: readonly string[], most: number): string {
  const more = andMore(names.length - most);
  return `${names.slice(0, most).join(', ')}${more && ` ${more}`}`;
}

const units = [
  ['day', 1440],
  ['hour', 60],
  ['minute', 1],
] as const;

/** `45 seconds`, `10 minutes`, `1 hour 30 minutes`, `2 days`: the largest unit, and the next one if there is a rest. */
export function formatDuration(ms: number): string {
  const seconds = Math.max(1, Math.ceil(ms / 1000));
  if (seconds < 100 && seconds % 60 !== 0) return formatCount(seconds, 'second');
  const minutes = Math.ceil(seconds / 60);
  const largest = units.findIndex(([, size]) => minutes >= size);
  const parts = units.slice(largest, largest + 2).map(([unit, size], nth) => {
    const count = Math.floor((nth === 0 ? minutes : minutes % (units[largest]?.[1] ?? 1)) / size);
    return count > 0 ? formatCount(count, unit) : '';
  });
  return parts.filter(Boolean).join(' ');
}

/** Behind "the last", "each" or "every": `hour`, `90 minutes`, `24 hours`, `7 days`. */
export function formatPeriod(minutes: number): string {
  const [unit, size] =
    minutes % 1440 === 0 && minutes > 1440
      ? (['day', 1440] as const)
      : minutes % 60 === 0
        ? (['hour', 60] as const)
        : (['minute', 1] as const);
  if (unit === 'minute' && minutes > 100) return formatDuration(minutes * 60_000);
  return minutes === size ? unit : formatCount(minutes / size, unit);
}

/** A number without a unit, to two decimals; a smaller one to two digits, as nothing that is reported is 0: `0.00034`. */
export function formatNumber(value: number): string {
  const isTiny = value !== 0 && Math.abs(value) < 0.01;
  return value.toLocaleString('en-US', {
    signDisplay: 'negative',
    ...(isTiny ? { maximumSignificantDigits: 2 } : { maximumFractionDigits: 2 }),
  });
}

export function formatInteger(number: number): string {
  // A formatter takes twenty times as long as this.
  return Number.isInteger(number) && Math.abs(number) < 1000 ? String(number) : plainNumber.format(number);
}

const byteUnits = ['B', 'kB', 'MB', 'GB', 'TB'] as const;

/** Decimal units, as the control panel counts: `45.1 TB`, `812 GB`, `52.4 MB`. From 1,000 GB on in TB. */
export function formatBytes(amount: number): string {
  // What rounds up to 1,000 of a unit is 1 of the next: 999,999 B are 1 MB.
  const sizes = byteUnits.map((unit, nth) => [round(amount / 1000 ** nth, nth > 0), unit] as const);
  const [size, unit] = sizes.find(([size]) => Math.abs(size) < 1000) ?? [round(amount / 1e12, true), 'TB'];
  return `${formatInteger(size)} ${unit}`;
}

// What rounds to zero has no sign.
const plainNumber = new Intl.NumberFormat('en-US', { signDisplay: 'negative' });
const currency = { style: 'currency', currency: 'USD', signDisplay: 'negative' } as const;
const dollars = new Intl.NumberFormat('en-US', currency);
const wholeDollars = new Intl.NumberFormat('en-US', { ...currency, maximumFractionDigits: 0 });

/** Less than a cent is not nothing. */
export function formatMoney(amount: number): string {
  return amount > 0 && amount < 0.005 ? 'under $0.01' : dollars.format(amount);
}

/** Dollars in a sentence, whole from 100 on: `$2,268`. A table has the cents. */
export function formatRoundMoney(amount: number): string {
  return Math.abs(amount) < 99.995 ? formatMoney(amount) : wholeDollars.format(amount);
}

/** `81%`: whole per cent, never rounded up to the limit nor down to nothing. */
export function formatPercent(part: number, whole: number): string {
  if (whole === 0) return '–';
  const share = (part / whole) * 100;
  if (share > 0 && share < 1) return 'under 1%';
  return `${formatInteger(share < 100 ? Math.floor(share) : Math.round(share))}%`;
}

/** To three digits, or whole. */
function round(amount: number, hasDecimals: boolean): number {
  const size = Math.abs(amount);
  const decimals = size >= 100 || !hasDecimals ? 0 : size >= 10 ? 1 : 2;
  return Number(amount.toFixed(decimals));
}
