import { z } from 'zod';
import type { CdnClient } from '../api/cdn.ts';
import { ApiError } from '../api/errors.ts';
import { Secret } from '../secret.ts';
import * as views from '../views/connect.ts';
import type { Failure } from '../views/failure.ts';
import {
  type Command,
  type Context,
  defineForm,
  type Feature,
  type FormResult,
  type Message,
} from './define.ts';

const connectCommand: Command = {
  name: 'connect',
  aliases: ['link', 'login'],
  usage: 'connect',
  summary: 'Connect your own CDN key, in a form',
  examples: ['connect'],
  needs: 'none',
  modal: (words) => (words.text === '' ? views.connectForm() : undefined),
  run: () => views.keyPasted('words-after-connect'),
};

const whoamiCommand: Command = {
  name: 'whoami',
  aliases: ['me', 'status'],
  usage: 'whoami',
  summary: 'Whether a key is connected for you, since when, and what you may do',
  examples: ['whoami'],
  needs: 'none',
  run: async (_, { custody, person }) =>
    views.whoami({ userId: person.userId, linked: await custody.describe(person) }),
};

const disconnectCommand: Command = {
  name: 'disconnect',
  aliases: ['unlink', 'logout', 'forget'],
  usage: 'disconnect',
  summary: 'Make the bot forget your CDN key',
  examples: ['disconnect'],
  needs: 'none',
  run: (_, context) => forget(context),
};

/** Stands in for whatever was typed when a key was in it. Its words are never looked at. */
export const keyPasted: Command = {
  name: 'key-in-text',
  usage: 'connect',
  summary: 'Refuses a key that was typed after a command',
  examples: [],
  needs: 'none',
  run: () => views.keyPasted('looks-like-key'),
};

const accessKey = z
  .string({ error: 'Paste the key here.' })
  .trim()
  .min(1, { error: 'Paste the key here.', abort: true })
  .regex(/^\S+$/u, { error: 'A key has no spaces or line breaks in it. Copy it once more.', abort: true })
  // It travels in an HTTP header, which takes nothing else.
  .regex(/^[!-~]+$/u, { error: 'A key has only letters, digits and signs. Copy it once more.', abort: true })
  .transform((key) => new Secret(key));

export const connect: Feature = {
  name: 'connect',
  commands: [connectCommand, whoamiCommand, disconnectCommand],
  actions: [
    { id: 'connect:open', needs: 'none', modal: () => views.connectForm() },
    {
      id: 'connect:forget',
      needs: 'none',
      run: (_, context) => forget(context),
    },
  ],
  forms: [
    defineForm({
      id: 'connect:submit',
      needs: 'none',
      fields: z.object({ accessKey }),
      busy: views.connectBusy(),
      run: ({ accessKey }, context) => checkAndLink(accessKey, context),
    }),
  ],
};

/** Typed or pressed, it is meant: a key that may have leaked must go at once, and connecting again takes a minute. */
async function forget({ custody, person, snapshots }: Context): Promise<Message> {
  const had = await custody.forget(person);
  snapshots.drop(person);
  return views.disconnected(had);
}

async function checkAndLink(key: Secret, context: Context): Promise<FormResult> {
  const { custody, person, snapshots } = context;
  let first: Awaited<ReturnType<CdnClient['pullZones']['firstPage']>>;
  try {
    // 5 is the smallest page the CDN gives.
    first = await context.cdnWith(key).pullZones.firstPage({ perPage: 5 });
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const why = whyNot(context.explain(error), error.code);
    return { modal: views.connectForm(why), message: views.notConnected(why) };
  }
  const { fingerprint } = await custody.link(person, key);
  // What the key before this one saw is not this one's to show.
  snapshots.drop(person);
  const zones = views.zonesSeen({ total: first.total, here: first.zones.length, more: first.more });
  return views.connectDone({ fingerprint, zones });
}

function whyNot(failure: Failure, code: ApiError['code']): { message: string; hint: string } {
  const reference = failure.reference ? ` Reference ${failure.reference}` : '';
  return code === 'key_refused'
    ? {
        message: 'The CDN refused this key.',
        hint: `Nothing was stored. Copy the whole key and paste it once more.${reference}`,
      }
    : {
        message: 'The key could not be checked, so nothing was stored.',
        hint: `${failure.message} ${failure.hint ?? 'Try again.'}${reference}`,
      };
}
