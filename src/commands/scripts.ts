import type { Option } from '@slack/types';
import type { ZoneSummary } from '../api/zones/summary.ts';
import { option } from '../views/blocks/inputs.ts';
import { firstOf } from '../views/blocks/menu.ts';
import type { Feature } from './define.ts';
import { withKnownIds } from './names.ts';
import { createNameIndex, defineZonePicker } from './zones/pickers.ts';

/** The scripts of the person's zones: the CDN has no operation that lists scripts. */
const scriptPicker = defineZonePicker({
  id: 'scripts:pick',
  fields: ['scriptId'],
  list: listScripts,
  toCandidate: ({ id, runsOn, middlewareOf }) => ({ id, names: [id, ...runsOn, ...middlewareOf] }),
  toOption: renderOption,
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

/** The CDN reports no names of scripts, so the names of their zones identify them. */
function renderOption({ id, runsOn, middlewareOf }: ReturnType<typeof listScripts>[number]): Option {
  const runs = runsOn.length > 0 ? [`Runs on ${firstOf(runsOn)}`] : [];
  const middleware = middlewareOf.length > 0 ? [`Middleware of ${firstOf(middlewareOf)}`] : [];
  return option(id, id, [...runs, ...middleware].join(' · '));
}
