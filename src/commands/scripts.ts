import type { ZoneSummary } from '../api/zones/summary.ts';
import { type ListedScript, scriptOption } from '../views/scripts.ts';
import type { Feature } from './define.ts';
import { createNameIndex, defineZonePicker } from './zones/pickers.ts';

/** The scripts that the person's zones run: the CDN has no list of scripts among its operations. */
const scriptPicker = defineZonePicker({
  id: 'scripts:pick',
  fields: ['scriptId'],
  things: scriptsOf,
  candidate: ({ id, runsOn, middlewareOf }) => ({ id, names: [id, ...runsOn, ...middlewareOf] }),
  option: scriptOption,
  idShape: /^\d{1,19}$/u,
  says: { none: 'Your zones run no script: type its id', noMatch: 'No script of your zones matches' },
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
