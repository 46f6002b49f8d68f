import { z } from 'zod';
import * as views from '../views/apps.ts';
import type { Message } from '../views/blocks/blocks.ts';
import { isNote } from '../views/blocks/menu.ts';
import { type Command, type Context, defineForm, type Feature } from './define.ts';
import { rememberUse, resolveId, withKnownIds } from './names.ts';
import { findKnownZones } from './zones/lookup.ts';
import { createNameIndex, defineZonePicker } from './zones/pickers.ts';

const appCommand: Command = {
  name: 'app',
  aliases: ['apps', 'container'],
  usage: 'app <appId>',
  summary: 'Latency and cost of an app: now and on average, volume size, latency chart',
  examples: ['app', 'app app0api00000001'],
  needs: 'read',
  shares: true,
  modal: (words) => (words.text === '' ? views.renderAppForm() : undefined),
  async run(words, context) {
    return showApp(await resolveId('app', words, context), context);
  },
};

/** The apps that the person's zones name; no specified operation lists apps. */
const appPicker = defineZonePicker({
  id: 'apps:pick',
  fields: ['appId', 'target:apps'],
  list: (zones) => [...createNameIndex(zones, ({ appId }) => appId)].map(([id, zones]) => ({ id, zones })),
  toCandidate: ({ id, zones }) => ({ id, names: [id, ...zones] }),
  toOption: views.renderAppOption,
  idShape: /^[^\s/\\]+$/u,
  messages: { none: 'Your zones use no app: type its ID', noMatch: 'No app of your zones matches' },
});

const app = z
  .string({ error: 'Pick an app, or type its ID.' })
  .trim()
  .refine((picked) => !isNote(picked), { error: 'That line is not an app. Pick one.' })
  .refine((picked) => !/[\s/\\]/u.test(picked), { error: 'An ID has no spaces or slashes.' });

export const apps: Feature = {
  name: 'apps',
  commands: [appCommand],
  forms: [
    defineForm({
      id: 'apps:submit',
      needs: 'read',
      fields: z.object({ app }),
      again: () => ['help:run', 'app'],
      run: (fields, context) => showApp(fields.app, context),
    }),
  ],
  pickers: [withKnownIds('app', appPicker)],
};

async function showApp(id: string, context: Context): Promise<Message> {
  return views.renderApp(await readApp(id, context));
}

export async function readApp(id: string, context: Context) {
  const client = await context.cdn();
  const [app, named] = await Promise.all([
    client.apps.summary(id),
    context.names.find(context.person, 'app', id),
  ]);
  await rememberUse('app', id, context);
  // Shown only if cached: it is not worth reading every zone.
  const zones = findKnownZones(context)?.zones.filter(({ appId }) => appId === id);
  return { id, name: named?.name, app, zones, panel: context.panel, asOf: context.now() };
}
