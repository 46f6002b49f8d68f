import type { Option } from '@slack/types';
import type { ZoneSummary } from '../api/zones/summary.ts';
import { option } from '../views/blocks/inputs.ts';
import { firstOf } from '../views/blocks/menu.ts';
import type { Feature } from './define.ts';
import { createNameIndex, defineZonePicker } from './zones/pickers.ts';

/** The scripts of the person's zones: the CDN has no operation that lists scripts. */
const scriptPicker = defineZonePicker({
  id: 'scripts:pick',
  fields: ['scriptId'],
  list: scriptsOf,
  toCandidate: ({ id, runsOn, middlewareOf }) => ({ id, names: [id, ...runsOn, ...middlewareOf] }),
  toOption: scriptOption,
  idShape: /^\d{1,19}$/u,
  messages: { none: 'Your zones run no script: type its id', noMatch: 'No script of your zones matches' },
});

export const scripts: Feature<'zoneCache'> = { name: 'scripts', commands: [], pickers: [scriptPicker] };

function scriptsOf(zones: readonly ZoneSummary[]): ListedScript[] {
  const runsOn = createNameIndex(zones, ({ edgeScriptId }) => edgeScriptId);
  const middlewareOf = createNameIndex(zones, ({ middlewareScriptId }) => middlewareScriptId);
  const ids = new Set([...runsOn.keys(), ...middlewareOf.keys()]);
  return [...ids].map((id) => ({
    id,
    runsOn: runsOn.get(id) ?? [],
    middlewareOf: middlewareOf.get(id) ?? [],
  }));
}

interface ListedScript {
  readonly id: string;
  /** Names of the zones that run it at the edge. */
  readonly runsOn: readonly string[];
  /** Names of the zones whose middleware it is. */
  readonly middlewareOf: readonly string[];
}

/** An option of the menu of scripts. The CDN reports no names of scripts, so the zones identify them. */
function scriptOption({ id, runsOn, middlewareOf }: ListedScript): Option {
  const runs = runsOn.length > 0 ? [`Runs on ${firstOf(runsOn)}`] : [];
  const middleware = middlewareOf.length > 0 ? [`Middleware of ${firstOf(middlewareOf)}`] : [];
  return option(id, id, [...runs, ...middleware].join(' · '));
}
