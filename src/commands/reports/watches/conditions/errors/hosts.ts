import { UserError } from '../../../../../errors.ts';
import { minuteMs } from '../../../../../lib/time.ts';
import { formatInteger, pluralize } from '../../../../../views/blocks/format.ts';
import { truncate } from '../../../../../views/blocks/text.ts';
import type { Condition } from '../condition.ts';
import { toNote } from '../zones/look.ts';
import { describeErrors, describeMostly, formatWindow, readHost, readLogs, withoutTarget } from './read.ts';
import { addUp, type RunMemory } from './run.ts';

const initial = 50;
const initialWindow = 10;
const close = 3;

/** Errors of one origin host, of all zones that fetch from it; each host is judged by itself. */
export const hostErrors: Condition<'errors-host', RunMemory> = {
  name: 'errors-host',
  label: 'Errors of an origin host',
  words: /^(?!.*certificate).*\bhosts?\b/iu,
  target: 'hosts',
  withoutTarget,
  threshold: {
    label: 'More than',
    unit: 'errors of one host',
    initial,
    least: 0,
    most: 1_000_000,
    hint: 'Of all zones with that origin. Without a host: each origin of the 25 zones with most traffic.',
  },
  window: { initial: initialWindow },
  damping: { open: [1, 1], close },
  describe: ({ threshold = initial, window = initialWindow }) =>
    `more than ${pluralize(threshold, 'error')} of an origin host in ${formatWindow(window)}`,
  async evaluate({ account, subject, now, memory }) {
    const { threshold = initial, window = initialWindow } = subject;
    const from = now.getTime() - window * minuteMs;
    const wanted = new Set(subject.targets.map((host) => host.trim().toLowerCase()));
    const { zones: all, skipped } = await account.pullZones.all();
    const zones = all.filter((zone) => {
      const host = readHost(zone);
      return host !== undefined && (wanted.size === 0 || wanted.has(host));
    });
    if (zones.length === 0)
      throw new UserError('No zone fetches from the hosts that this watch looks at.', 'Edit the watch.');
    const { read, unread, notes } = await readLogs(account, zones, [
      ...(skipped > 0 ? [toNote(pluralize(skipped, 'zone'), 'not readable in the CDN’s list')] : []),
      ...[...wanted]
        .filter((host) => !zones.some((zone) => readHost(zone) === host))
        .map((host) => toNote(truncate(host, 60), 'no zone fetches from it')),
    ]);
    const hosts = [...Map.groupBy(read, ({ host = '' }) => host)]
      .map(([host, zones]) => {
        const sums = zones.map(({ counts }) => counts.sum(from));
        const codes = new Map<string, number>();
        for (const sum of sums)
          for (const [code, count] of sum.codes) codes.set(code, (codes.get(code) ?? 0) + count);
        const total = sums.reduce((all, sum) => all + sum.total, 0);
        const isPartial = sums.some(({ partial }) => partial) || unread.some((zone) => zone.host === host);
        const of = zones.length > 1 ? ` of ${pluralize(zones.length, 'zone')}` : '';
        const text = `${describeErrors(total, window, isPartial)}${describeMostly(codes, total)}${of}`;
        const part = { id: host, name: truncate(host, 60), text, value: total };
        return { part, zones, total, isWrong: total > threshold };
      })
      .toSorted((a, b) => b.total - a.total);
    const wrong = hosts.filter(({ isWrong }) => isWrong);
    const ofRun = new Set([
      ...Object.keys(memory?.run?.counted ?? {}),
      ...wrong.flatMap(({ zones }) => zones.map(({ id }) => id)),
    ]);
    const about = { isWrong: wrong.length > 0, from, now, close, memory };
    const wrongIf = `more than ${formatInteger(threshold)}`;
    return {
      parts: wrong.map(({ part }) => part),
      value: hosts[0]?.total,
      ...addUp(
        read.filter(({ id }) => ofRun.has(id)),
        about,
      ),
      unread: unread.flatMap(({ host }) => (host === undefined ? [] : [host])),
      evidence: [
        ...notes.slice(0, 10),
        ...hosts.map(({ part: { name, text: is }, isWrong }) => ({ name, is, wrongIf, isWrong })),
      ].slice(0, 30),
    };
  },
  formatValue: (errors) => pluralize(errors, 'error'),
  unit: 'Errors of the worst host',
  next: (part) => ({ label: 'Show errors', command: part ? `zones origin:${part.id}` : 'errors' }),
};
