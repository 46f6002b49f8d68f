import { z } from 'zod';
import type { Message } from '../views/blocks/blocks.ts';
import * as views from '../views/upload-scanning.ts';
import { type Context, defineForm, type Feature } from './define.ts';

const shieldZoneId = z
  .string({ error: 'Type the id of a shield zone.' })
  .trim()
  .regex(/^\d{1,10}$/u, { error: 'An id is a whole number, such as 501. It is not the pull zone’s id.' });

export const uploadScanning: Feature = {
  name: 'upload-scanning',
  commands: [
    {
      name: 'scanning',
      aliases: ['scan', 'upload-scanning'],
      usage: 'scanning <shieldZoneId>',
      summary: 'Upload scanning of a shield zone: totals, what was blocked, the newest days as a chart',
      label: 'Upload scanning',
      examples: ['scanning 501'],
      needs: 'read',
      modal: (words) => (words.text === '' ? views.renderScanningForm() : undefined),
      run: (words, context) => showMetrics(words.text.replace(/^#/u, ''), context),
    },
  ],
  actions: [{ id: 'upload-scanning:refresh', needs: 'read', run: showMetrics }],
  forms: [
    defineForm({
      id: 'upload-scanning:submit',
      needs: 'read',
      fields: z.object({ shieldZoneId }),
      run: (fields, context) => showMetrics(fields.shieldZoneId, context),
    }),
  ],
};

async function showMetrics(id: string, context: Context): Promise<Message> {
  const { uploadScanning } = await context.cdn();
  return views.renderScanning({ id, metrics: await uploadScanning.metrics(id), asOf: context.now() });
}
