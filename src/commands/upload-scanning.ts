import { z } from 'zod';
import { contentHash } from '../lib/canonical-json.ts';
import type { Message } from '../views/blocks/message.ts';
import * as views from '../views/upload-scanning.ts';
import type { Context } from './context.ts';
import { defineForm, type Feature } from './define.ts';

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
      summary: 'Upload scanning of a shield zone: totals, what was blocked, the past 28 days as a chart',
      label: 'Upload scanning',
      examples: ['scanning 501'],
      needs: 'read',
      modal: (words) => (words.text === '' ? views.renderScanningForm() : undefined),
      run: (words, context) => showMetrics(words.text.replace(/^#/u, ''), context),
    },
  ],
  actions: [
    {
      id: 'upload-scanning:refresh',
      needs: 'read',
      run(value, context) {
        const [id = '', seen = ''] = value.split(' ');
        return showMetrics(id, context, seen);
      },
    },
  ],
  forms: [
    defineForm({
      id: 'upload-scanning:submit',
      needs: 'read',
      fields: z.object({ shieldZoneId }),
      run: (fields, context) => showMetrics(fields.shieldZoneId, context),
    }),
  ],
};

/** `seen` is the hash of the days whose picture has been sent. */
async function showMetrics(id: string, context: Context, seen?: string): Promise<Message> {
  const { uploadScanning } = await context.cdn();
  const metrics = await uploadScanning.metrics(id);
  const mark = contentHash(metrics.days);
  const { files, ...words } = views.renderScanning({
    id,
    metrics,
    asOf: context.now(),
    refresh: `${id} ${mark}`,
  });
  return files && mark !== seen ? { ...words, files } : words;
}
