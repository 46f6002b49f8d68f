import type { Option } from '@slack/types';
import { z } from 'zod';
import type { ZoneSummary } from '../api/zone-summary.ts';
import * as views from '../views/apps.ts';
import * as forms from '../views/apps-form.ts';
import type { Message } from '../views/message.ts';
import { type Command, type Context, defineForm, type Feature, type Picker } from './define.ts';
import { allZones } from './zone-snapshot.ts';

const appCommand: Command = {
  name: 'app',
  aliases: ['apps', 'container'],
  usage: 'app <appId>',
  summary:
    'Show a container application: latency now and on average, volume size, monthly cost, latency chart',
  examples: ['app', 'app app0api00000001'],
  needs: 'read',
  modal: (words) => (words.text === '' ? forms.appForm() : undefined),
  run: (words, context) => summary(words.text, context),
};

/** What Slack's menus hold: https://docs.slack.dev/reference/block-kit/block-elements/select-menu-element */
const mostOptions = 100;
const longestValue = 75;

/** The apps that the person's zones name: the CDN has no list of apps among its operations. */
const appPicker: Picker = {
  id: 'apps:pick',
  needs: 'read',
  async run(typed, context): Promise<Option[]> {
    const apps = appsOf((await allZones(context)).zones);
    const search = typed.trim().toLowerCase();
    const found = apps.filter(
      ({ id, zones }) =>
        id.toLowerCase().includes(search) || zones.some((name) => name.toLowerCase().includes(search)),
    );
    const shown = found.length > mostOptions ? found.slice(0, mostOptions - 1) : found;
    return forms.appOptions(shown, { more: found.length - shown.length, searched: search !== '' });
  },
};

const appFields = z
  .object({
    app: z.string().optional(),
    appId: z.string().trim().optional(),
  })
  .transform(({ app, appId }, fields) => {
    if (appId && app && app !== appId)
      fields.addIssue({
        code: 'custom',
        path: ['appId'],
        message: 'You also picked another app. Clear one of them.',
      });
    if (appId) {
      if (/[\s/\\]/u.test(appId))
        fields.addIssue({
          code: 'custom',
          path: ['appId'],
          message: 'An id has no spaces or slashes in it.',
        });
      return appId;
    }
    if (app === undefined || app === '')
      fields.addIssue({
        code: 'custom',
        path: ['appId'],
        message: 'Pick an app above, or type its id here.',
      });
    if (app === 'note')
      fields.addIssue({ code: 'custom', path: ['app'], message: 'This line is no app. Pick one.' });
    return app ?? '';
  });

export const apps: Feature = {
  name: 'apps',
  commands: [appCommand],
  actions: [
    { id: 'apps:refresh', needs: 'read', run: (id, context) => summary(id, context, 'without chart') },
  ],
  forms: [
    defineForm({
      id: 'apps:submit',
      needs: 'read',
      fields: appFields,
      run: (id, context) => summary(id, context),
    }),
  ],
  pickers: [appPicker],
};

async function summary(id: string, context: Context, chart?: 'without chart'): Promise<Message> {
  const client = await context.cdn();
  const app = await client.apps.summary(id);
  // Said where it is known already; it is not worth reading every zone for.
  const known = context.snapshots.of(context.person).peek()?.zones;
  const message = views.app({
    id,
    app,
    zones: known?.filter((zone) => zone.appId === id),
    asOf: context.now(),
  });
  if (!chart) return message;
  const { files: _, ...words } = message;
  return words;
}

function appsOf(zones: readonly ZoneSummary[]): forms.ListedApp[] {
  const apps = new Map<string, string[]>();
  for (const { appId, name } of zones) {
    if (appId === undefined || appId.length > longestValue) continue;
    const names = apps.get(appId);
    if (names) names.push(name);
    else apps.set(appId, [name]);
  }
  return [...apps].map(([id, names]) => ({ id, zones: names }));
}
