import { z } from 'zod';
import { trimZeros } from '../lib/names.ts';
import type { Message } from '../views/blocks/blocks.ts';
import { menu } from '../views/blocks/menu.ts';
import * as views from '../views/upload-scanning.ts';
import { type Context, defineForm, type Feature, type Picker } from './define.ts';
import { rememberUse, resolveId, withKnownIds } from './names.ts';

const shieldZoneId = z
  .string({ error: 'Type the ID of a shield zone.' })
  .trim()
  .regex(/^\d{1,10}$/u, { error: 'An ID is a whole number, such as 501. It is not the pull zone’s ID.' })
  .transform(trimZeros);

/** Shield zones that have a name or were looked at before: no specified operation lists them. */
const shieldPicker: Picker = withKnownIds('shield', {
  id: 'upload-scanning:pick',
  fields: ['shieldZoneId', 'target:shieldZones'],
  needs: 'read',
  run: async (typed) => {
    const id = typed.trim().replace(/^#/u, '');
    const isId = /^\d{1,10}$/u.test(id);
    return menu([], { more: 0, none: 'Type the number of a shield zone', id: isId ? id : undefined });
  },
});

export const uploadScanning: Feature = {
  name: 'upload-scanning',
  commands: [
    {
      name: 'scanning',
      aliases: ['scan', 'upload-scanning'],
      usage: 'scanning <shieldZoneId>',
      summary: 'Upload scanning of a shield zone: what was blocked, logged and scanned in 28 days',
      label: 'Upload scanning',
      examples: ['scanning 501'],
      needs: 'read',
      shares: true,
      modal: (words) => (words.text === '' ? views.renderScanningForm() : undefined),
      async run(words, context) {
        return showMetrics(await resolveId('shield', words, context), context);
      },
    },
  ],
  pickers: [shieldPicker],
  forms: [
    defineForm({
      id: 'upload-scanning:submit',
      needs: 'read',
      fields: z.object({ shieldZoneId }),
      again: () => ['help:run', 'scanning'],
      run: (fields, context) => showMetrics(fields.shieldZoneId, context),
    }),
  ],
};

async function showMetrics(id: string, context: Context): Promise<Message> {
  return views.renderScanning(await readScanning(id, context));
}

export async function readScanning(id: string, context: Context) {
  const { uploadScanning } = await context.cdn();
  const [metrics, named] = await Promise.all([
    uploadScanning.metrics(id),
    context.names.find(context.person, 'shield', id),
  ]);
  await rememberUse('shield', id, context);
  return { id, name: named?.name, metrics, asOf: context.now() };
}
