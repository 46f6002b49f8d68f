import { tenantId } from '../../../auth/identity.ts';
import { countDigests, listDigest } from '../../../views/reports/list.ts';
import { defineReportFeature, pickVisible } from '../command.ts';
import { digestActions, verbs } from './actions.ts';
import {
  digestForm,
  editForm,
  look,
  newForm,
  preview,
  redraw,
  targetPicker,
  timeZonePicker,
} from './form.ts';
import { digestKinds } from './kinds/list.ts';

export const digest = defineReportFeature<
  'digests' | 'keyStore' | 'names' | 'settingsHistory' | 'sharing' | 'zoneCache'
>({
  noun: 'digest',
  plural: 'digests',
  usage: 'digest [new|list|run <id>|pause <id>|resume <id>|edit <id>|delete <id>]',
  summary: `Posts a summary on a schedule: ${digestKinds.map(({ label }) => label.toLowerCase()).join(', ')}, and what changed`,
  label: 'Digests',
  examples: ['digest new', 'digest list', 'digest run k7f3q'],
  otherVerbs: { check: 'run', now: 'run' },
  verbs,
  newForm,
  editForm,
  async list(context, isVisible) {
    const all = await context.digests.list(tenantId(context.person));
    const rows = await pickVisible(context, all, ({ digest }) => digest, isVisible);
    return { ...countDigests(rows), rows: rows.map(listDigest) };
  },
  actions: [preview, redraw, look, ...digestActions],
  forms: [digestForm],
  pickers: [targetPicker, timeZonePicker],
});
