import type { ModalView } from '@slack/types';
import { z } from 'zod';
import { ApiError, genericRefusal, isKeyRefusal } from '../api/http/errors.ts';
import { tenantId } from '../auth/identity.ts';
import type { LinkedKey } from '../auth/keys/key-store.ts';
import { computeRights } from '../auth/policy/policy.ts';
import { UserError } from '../errors.ts';
import { Secret } from '../secrets/secret.ts';
import { renderApiKeys } from '../views/api-keys.ts';
import type { Message } from '../views/blocks/blocks.ts';
import { renderSkeleton } from '../views/blocks/inputs.ts';
import { escapeMrkdwn } from '../views/blocks/text.ts';
import * as views from '../views/connect/connect.ts';
import { type Action, type Command, type Context, defineForm, type Feature, type Setup } from './define.ts';
import { cancelUnbegun } from './operations/execute.ts';
import { assertAllowed } from './operations/propose.ts';

/** Runs in place of a command that contained a key. */
export const refusePastedKey: Command = {
  name: 'key-in-text',
  usage: 'connect',
  summary: 'Refuses a key that was typed after a command',
  examples: [],
  needs: 'none',
  run: (_, { panel }) => views.renderKeyPasted('looks-like-key', panel.keys),
};

/** On the page too; people read its messages. */
export const accessKey = z
  .string({ error: 'Paste the key here.' })
  .trim()
  .min(1, { error: 'Paste the key here.', abort: true })
  .max(500, { error: 'This is too long for a key. Copy it again.', abort: true })
  .regex(/^\S+$/u, { error: 'A key has no spaces or line breaks. Copy it again.', abort: true })
  // It travels in an HTTP header, which takes nothing else.
  .regex(/^[!-~]+$/u, {
    error: 'A key has only letters, digits and punctuation. Copy it again.',
    abort: true,
  })
  .transform((key) => new Secret(key, 'cdn-key'));

export const connect: Feature = {
  name: 'connect',
  commands: [
    {
      name: 'connect',
      aliases: ['link', 'login'],
      usage: 'connect',
      summary: 'Connect your own API key',
      examples: ['connect'],
      needs: 'none',
      modal: (words, setup) => (words.text === '' ? renderForm(setup) : undefined),
      run: (words, context) =>
        words.text === ''
          ? offerPage(context)
          : views.renderKeyPasted('words-after-connect', context.panel.keys),
    },
    {
      name: 'whoami',
      aliases: ['me', 'status'],
      usage: 'whoami',
      summary: 'Your key and what you may do',
      label: 'My permissions',
      examples: ['whoami'],
      needs: 'none',
      shares: 'never',
      run: async (_, context) => {
        const { person, authorizer } = context;
        const [linked, policy, actor, pausing] = await Promise.all([
          authorizer.linked(),
          authorizer.policy(),
          authorizer.actor(),
          findPausing(context),
        ]);
        const rights = computeRights(policy, actor, undefined);
        return views.renderWhoami({ userId: person.userId, linked, rights, pausing });
      },
    },
    {
      name: 'disconnect',
      aliases: ['unlink', 'logout', 'forget'],
      usage: 'disconnect',
      summary: 'Disconnect your API key',
      examples: ['disconnect'],
      needs: 'none',
      run: async (_, context) =>
        (await context.authorizer.linked())
          ? views.renderDisconnectQuestion(await findPausing(context))
          : forget(context),
    },
  ],
  actions: [
    {
      id: 'connect:open',
      needs: 'none',
      modal: (_, setup) => renderForm(setup),
      run: (_, context) => offerPage(context),
      newMessage: true,
    },
    { id: 'connect:forget', needs: 'none', run: (_, context) => forget(context), changesHome: true },
  ],
  forms: [
    defineForm({
      id: 'connect:submit',
      needs: 'none',
      fields: z.object({ accessKey }),
      loadingView: renderSkeleton('Connect a bunny.net key', 'Checking the key…'),
      run: ({ accessKey }, context) => checkAndLink(accessKey, context),
      changesHome: true,
      takesKeys: true,
    }),
  ],
};

/** A page is better: a key entered there never passes Slack. */
function renderForm({ keyPage, panel }: Setup): ModalView | undefined {
  return keyPage ? undefined : views.renderConnectForm(panel.keys);
}

async function offerPage(context: Context): Promise<Message> {
  const { keyPage, panel } = context;
  if (!keyPage) throw new Error('no page to offer: the form opens instead');
  await assertMember(context);
  return views.renderPageOffer({ ...(await keyPage.offer()), keysAt: panel.keys });
}

/** A slash command does not name its person's organization. @throws UserError, RolesUnknown */
async function assertMember(context: Context): Promise<void> {
  await assertAllowed(await context.decide('none', { fresh: true }), context);
}

/** Even without a key: links that could connect one are closed. */
async function forget(context: Context): Promise<Message> {
  const { accounts, keyStore, keyPage, ledger, person, zoneCache } = context;
  const pausing = await findPausing(context);
  // The links first: the key may have come by one of them.
  await keyPage?.close();
  const had = await keyStore.forget(person, { cause: 'disconnect' });
  zoneCache.drop(person);
  await accounts.drop({ person, tenant: tenantId(person) });
  // Approvers should not be asked any more.
  const cancelled = await cancelUnbegun(ledger, { person, tenant: tenantId(person) });
  return views.renderDisconnected({
    had,
    cancelled: cancelled.length,
    pausing: had ? pausing : [],
    keysAt: context.panel.keys,
  });
}

/** Digests and alerts that pause without the person's key. */
export async function findPausing({ reports, person }: Context) {
  const all = await reports.list(tenantId(person));
  return all
    .filter(({ owner, paused }) => owner.userId === person.userId && !paused)
    .map(({ subject, ...report }) => {
      const topics = 'condition' in subject ? [subject.condition] : subject.kinds;
      const what = [...topics.map(({ label }) => label), ...Object.values(subject.called ?? {})];
      return { ...report, what: what.join(', ') };
    });
}

async function checkAndLink(key: Secret, context: Context) {
  await assertMember(context);
  const checked = await checkKey(key, context);
  if (!checked.works)
    return {
      modal: views.renderConnectForm(context.panel.keys, checked.why),
      message: views.renderNotConnected(checked.why),
    };
  const { fingerprint } = await linkKey(key, context, 'form');
  return views.renderConnected({ fingerprint, zones: checked.zones });
}

type CheckedKey =
  | { readonly works: true; readonly zones: string }
  /** `refused`: by the CDN itself; else it could not be asked. */
  | { readonly works: false; readonly refused: boolean; readonly why: views.KeyProblem };

export async function checkKey(
  key: Secret,
  { cdnWith, explain }: Pick<Context, 'cdnWith' | 'explain'>,
): Promise<CheckedKey> {
  try {
    const first = await cdnWith(key).pullZones.firstPage();
    return { works: true, zones: views.countZones(first) };
  } catch (error) {
    const failure = explain(error);
    const reference = failure.reference ? ` Reference ${failure.reference}` : '';
    const { code, status, serviceMessage, errorKey }: Partial<ApiError> =
      error instanceof ApiError ? error : {};
    const refused = code === 'key_refused';
    const reason = serviceMessage ?? errorKey ?? '';
    const isQuoted = reason !== '' && !genericRefusal.test(reason);
    const next =
      refused && (!isQuoted || isKeyRefusal(reason))
        ? 'Copy the whole key and paste it again.'
        : 'Once that is solved at bunny.net, paste the key again.';
    const quote = isQuoted ? `The CDN says: “${escapeMrkdwn(reason, 300)}” ` : '';
    const why =
      refused || (code === 'refused' && (status === 401 || status === 403))
        ? {
            message: 'bunny.net refused this key.',
            hint: `Nothing was stored. ${quote}${next}${reference}`,
          }
        : {
            message: 'I couldn’t check the key, so nothing was stored.',
            hint: `${failure.message} ${failure.hint ?? 'Try again.'}${reference}`,
          };
    return { works: false, refused, why };
  }
}

export async function linkKey(
  key: Secret,
  { keyStore, person, zoneCache }: Pick<Context, 'keyStore' | 'person' | 'zoneCache'>,
  cause: 'form' | 'page',
): Promise<LinkedKey> {
  const linked = await keyStore.link(person, key, { cause });
  // The new key may not see what the earlier one read.
  zoneCache.drop(person);
  return linked;
}

const endToken: Action = {
  id: 'tokens:end',
  needs: 'none',
  async run(id, context) {
    const { audit, clientTokens, person } = context;
    const hasEnded = await clientTokens.end(person, id);
    const { userId } = person;
    if (hasEnded)
      await audit.record({ tenant: tenantId(person), actor: userId, event: 'token-ended', subject: userId });
    return showTokens(context, hasEnded ? 'Revoked.' : 'It was already revoked or expired.');
  },
};

/** For clients other than Slack; made on the bot's own page. */
export const tokens: Feature = {
  name: 'tokens',
  commands: [
    {
      name: 'token',
      aliases: ['tokens'],
      usage: 'token',
      summary: 'Tokens that let your editor or terminal use this bot’s tools as you',
      label: 'My tokens',
      examples: ['token'],
      needs: 'none',
      shares: 'never',
      run: (_, context) => showTokens(context),
    },
  ],
  actions: [endToken],
};

async function showTokens(context: Context, done?: string) {
  const { authorizer, clientTokens, keyPage, person } = context;
  if (!keyPage)
    throw new UserError(
      'Tokens are created on the bot’s web page, which is not set up here.',
      'The team that runs it can set PUBLIC_URL.',
    );
  // A token works with a key that is connected.
  await context.cdn();
  const [all, policy] = await Promise.all([clientTokens.list(person), authorizer.policy()]);
  const { url, minutes } = await keyPage.offer();
  return views.renderTokens({
    tokens: all,
    makeAt: `${url}/client`,
    minutes,
    isOff: (policy.assistant ?? 'off') === 'off',
    done,
  });
}

export const apiKeys: Feature = {
  name: 'api-keys',
  commands: [
    {
      name: 'keys',
      aliases: ['apikeys', 'api-keys'],
      usage: 'keys',
      summary: 'API keys of the account: IDs, roles, last four characters, which one is yours',
      label: 'API keys',
      examples: ['keys'],
      needs: 'read',
      shares: 'never',
      run: (_, context) => listKeys(context),
    },
  ],
};

async function listKeys(context: Context): Promise<Message> {
  const cdn = await context.cdn();
  try {
    const { keys, skipped } = await cdn.apiKeys.list();
    return renderApiKeys(keys, skipped, context.now());
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'key_refused') throw error;
    // Restricted keys are refused only here. A deleted key is refused here, too, and reported as such.
    await cdn.pullZones.firstPage();
    throw new UserError(
      'Your key can’t list API keys: it works for zones, so it is a restricted key.',
      'Only the account’s own key can list keys; keys of sub-users and scoped keys cannot. ' +
        'Your other commands keep working. To see the list, connect the account’s key.',
      'connect',
    );
  }
}
