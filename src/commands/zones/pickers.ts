import { setTimeout as delay } from 'node:timers/promises';
import type { Option } from '@slack/types';
import type { ZoneSummary } from '../../api/zones/summary.ts';
import { hasSecret } from '../../secrets/key-in-text.ts';
import { limits } from '../../views/blocks/blocks.ts';
import { option } from '../../views/blocks/inputs.ts';
import { firstOf, maxOptions, menu } from '../../views/blocks/menu.ts';
import type { Feature, Picker } from '../define.ts';
import { withKnownIds } from '../names.ts';
import { readHost } from './hosts.ts';
import { prefetchZones } from './lookup.ts';

export interface Candidate {
  readonly id: string;
  readonly names: readonly string[];
}

export interface ZonePicker<T> {
  readonly id: string;
  /** Inputs of forms that use the menu under their own names. */
  readonly fields?: readonly string[];
  readonly messages: { readonly none: string; readonly noMatch: string };
  readonly list: (zones: readonly ZoneSummary[]) => readonly T[];
  readonly toCandidate: (thing: T) => Candidate;
  readonly toOption: (thing: T) => Option;
  readonly idShape: RegExp;
}

/** Slack waits three seconds for options, people less. */
const answerWithinMs = 1_500;
const maxIdLength = limits.option;

/** Answers from the person's zones, or says that they are still being read. Typed text can be taken as an id at any time. */
export function defineZonePicker<T>(kind: ZonePicker<T>): Picker {
  return {
    id: kind.id,
    ...(kind.fields ? { fields: kind.fields } : {}),
    needs: 'read',
    async run(typed, context) {
      const words = readHost(typed);
      const late = delay(answerWithinMs, { failure: 'coming' as const }, { ref: false });
      const loaded = await Promise.race([prefetchZones(context), late]);
      const things = 'list' in loaded ? kind.list(loaded.list.zones) : [];
      const { best, count, isId } = findBest(things, kind.toCandidate, words, maxOptions);
      const id = typed.trim().replace(/^#(?=\d+$)/u, '');
      // A key that is pasted here by mistake is not shown again.
      const isNew = kind.idShape.test(id) && id.length <= maxIdLength && !isId && !hasSecret(id);
      return menu(best.map(kind.toOption), {
        more: count - best.length,
        rest: 'list' in loaded ? undefined : loaded.failure,
        none: words === '' ? kind.messages.none : kind.messages.noMatch,
        id: isNew ? id : undefined,
      });
    },
  };
}

export function createNameIndex(
  zones: readonly ZoneSummary[],
  idOf: (zone: ZoneSummary) => string | undefined,
): Map<string, string[]> {
  const named = [...Map.groupBy(zones, idOf)].filter(([id]) => id !== undefined && id.length <= maxIdLength);
  return new Map(named.map(([id = '', found]) => [id, found.map(({ name }) => name)]));
}

/** The best matches, equal ones by name, and the number of all. `typed` is in lower case; '' finds everything. */
export function findBest<T>(
  things: readonly T[],
  toCandidate: (thing: T) => Candidate,
  typed: string,
  most: number,
) {
  const found = things.flatMap((thing) => {
    const { id, names } = toCandidate(thing);
    const candidate = { id: id.toLowerCase(), names: names.map((name) => name.toLowerCase()) };
    const rank = rankCandidate(candidate, typed);
    return rank === undefined ? [] : [{ thing, rank, id: candidate.id, name: candidate.names.join('\n') }];
  });
  found.sort((a, b) => a.rank - b.rank || (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
  const best = found.slice(0, most).map(({ thing }) => thing);
  return { best, count: found.length, isId: found.some(({ id }) => id === typed) };
}

/** 0 is best: the id or name itself; another name; the name's beginning; another's or the id's beginning; any part. */
function rankCandidate({ id, names }: Candidate, typed: string): number | undefined {
  const [first = '', ...others] = names;
  if (typed === '' || id === typed || first === typed) return 0;
  if (others.includes(typed)) return 1;
  if (first.startsWith(typed)) return 2;
  if (id.startsWith(typed) || others.some((name) => name.startsWith(typed))) return 3;
  if (first.includes(typed)) return 4;
  return others.some((name) => name.includes(typed)) ? 5 : undefined;
}

/** The scripts of the person's zones: the CDN has no operation that lists scripts, and reports no names of them. */
const scriptPicker = defineZonePicker({
  id: 'scripts:pick',
  fields: ['scriptId'],
  list: listScripts,
  toCandidate: ({ id, runsOn, middlewareOf }) => ({ id, names: [id, ...runsOn, ...middlewareOf] }),
  toOption({ id, runsOn, middlewareOf }) {
    const runs = runsOn.length > 0 ? [`Runs on ${firstOf(runsOn)}`] : [];
    const middleware = middlewareOf.length > 0 ? [`Middleware of ${firstOf(middlewareOf)}`] : [];
    return option(id, id, [...runs, ...middleware].join(' · '));
  },
  idShape: /^\d{1,19}$/u,
  messages: { none: 'Your zones run no script: type its ID', noMatch: 'No script of your zones matches' },
});

export const scripts: Feature = {
  name: 'scripts',
  commands: [],
  pickers: [withKnownIds('script', scriptPicker)],
};

function listScripts(zones: readonly ZoneSummary[]) {
  const runsOn = createNameIndex(zones, ({ edgeScriptId }) => edgeScriptId);
  const middlewareOf = createNameIndex(zones, ({ middlewareScriptId }) => middlewareScriptId);
  const ids = new Set([...runsOn.keys(), ...middlewareOf.keys()]);
  return [...ids].map((id) => ({
    id,
    runsOn: runsOn.get(id) ?? [],
    middlewareOf: middlewareOf.get(id) ?? [],
  }));
}
