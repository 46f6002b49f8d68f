import { z } from 'zod';
import type { Message } from '../views/message.ts';
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
      summary: 'Upload scanning of a shield zone: totals, what was blocked, the past 28 days as a chart',
      label: 'Upload scanning',
      examples: ['scanning 501'],
      needs: 'read',
      modal: (words) => (words.text === '' ? views.scanningForm() : undefined),
      run: (words, context) => metrics(words.text.replace(/^#/u, ''), context),
    },
  ],
  forms: [
    defineForm({
      id: 'upload-scanning:submit',
      needs: 'read',
      fields: z.object({ shieldZoneId }),
      run: (fields, context) => metrics(fields.shieldZoneId, context),
    }),
  ],
};

async function metrics(id: string, context: Context): Promise<Message> {
  const { uploadScanning } = await context.cdn();
  return views.scanning({ id, metrics: await uploadScanning.metrics(id), asOf: context.now() });
}
