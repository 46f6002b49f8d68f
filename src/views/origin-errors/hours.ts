import type { OriginErrorCounts } from '../../api/origin-errors/counts.ts';
import { type DayRange, hourMs } from '../../lib/time.ts';
import { formatDate, formatShortMoments } from '../blocks/dates.ts';
import type { Attachment } from '../blocks/message.ts';
import { formatInteger, plainText, pluralize } from '../blocks/text.ts';

const bars = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'] as const;

/** Errors by hour, one line of bars per day: 24 characters fit on a phone. */
export function renderHours(counts: OriginErrorCounts, days: DayRange): string {
  const highest = Math.max(0, ...counts.hours);
  if (highest === 0) return '*By hour*\nNo entry has a time in these days.';
  const lines = Array.from({ length: days.count }, (_, day) => {
    const hours = counts.hours.slice(day * 24, day * 24 + 24);
    const line = hours.map((hour) => drawBar(hour, highest)).join('');
    const total = hours.reduce((sum, hour) => sum + hour, 0);
    return days.count === 1
      ? line
      : `${line} ${formatDate(days.first, day).slice(5)} ${formatInteger(total)}`;
  });
  return `*By hour (UTC)*\n\`\`\`\n${lines.join('\n')}\n0     6     12    18\n\`\`\``;
}

/** The same as a picture. Future hours are a gap, not a zero. */
export function renderHourChart(
  counts: OriginErrorCounts,
  days: DayRange,
  of: { name: string; now: number },
): Attachment | undefined {
  if (!counts.hours.some((hour) => hour > 0)) return undefined;
  const start = Date.parse(`${days.first}T00:00:00Z`);
  const at = counts.hours.map((_, hour) => start + hour * hourMs);
  const when = days.count === 1 ? days.first : `${days.first} to ${formatDate(days.first, days.count - 1)}`;
  const title = pluralize(counts.total, 'origin error');
  return {
    name: `origin-errors-${days.first}.png`,
    title: `Origin errors by hour, ${plainText(of.name, 60)}`,
    altText: `Bar chart of ${title} by hour in ${plainText(of.name, 60)}, ${when} (UTC): ${describePeak(counts, days)}.`,
    mimetype: 'image/png',
    content: {
      chart: {
        title,
        subtitle: `${plainText(of.name, 30)}, ${when} (UTC)`,
        labels: formatShortMoments(at),
        panels: [
          {
            kind: 'bars',
            name: 'Errors in each hour',
            series: [
              {
                name: 'errors',
                values: counts.hours.map((hour, index) => ((at[index] ?? 0) > of.now ? null : hour)),
              },
            ],
          },
        ],
      },
    },
  };
}

/** `most 13:00–14:00 UTC (61)` */
export function describePeak({ hours }: OriginErrorCounts, days: DayRange): string {
  const highest = Math.max(0, ...hours);
  if (highest === 0) return '';
  const at = hours.indexOf(highest);
  const day = days.count === 1 ? '' : `${formatDate(days.first, Math.floor(at / 24))} `;
  return `most ${day}${formatHour(at % 24)}–${formatHour((at % 24) + 1)} UTC (${formatInteger(highest)})`;
}

/** Zero is a dot, so that few and none look different. */
function drawBar(amount: number, highest: number): string {
  if (amount === 0) return '·';
  return bars[Math.min(bars.length - 1, Math.ceil((amount / highest) * bars.length) - 1)] ?? bars[0];
}

function formatHour(hour: number): string {
  return `${String(hour).padStart(2, '0')}:00`;
}
