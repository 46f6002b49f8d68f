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
      shares: true,
      modal: (words) => (words.text === '' ? views.renderScanningForm() : undefined),
      run: ({ list, named }, context) =>
        showMetrics(list.join(' ').replace(/^#/u, ''), readPicture(named['show']), context),
    },
  ],
  actions: [
    {
      id: 'upload-scanning:show',
      needs: 'read',
      async run(value, context) {
        const [id = '', picture] = value.split(' ');
        return showMetrics(id, readPicture(picture), context);
      },
    },
  ],
  forms: [
    defineForm({
      id: 'upload-scanning:submit',
      needs: 'read',
      fields: z.object({ shieldZoneId }),
      run: (fields, context) => showMetrics(fields.shieldZoneId, 'newest', context),
    }),
  ],
};

function readPicture(typed = ''): views.ScanningPicture {
  return views.scanningPictureNames.find((name) => name === typed.toLowerCase()) ?? 'newest';
}

async function showMetrics(id: string, picture: views.ScanningPicture, context: Context): Promise<Message> {
  const { uploadScanning } = await context.cdn();
  const metrics = await uploadScanning.metrics(id);
  return views.renderScanning({ id, metrics, picture, asOf: context.now() });
}
