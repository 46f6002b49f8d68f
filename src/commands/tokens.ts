import { tenantId } from '../auth/identity.ts';
import { UserError } from '../errors.ts';
import { renderTokens } from '../views/tools/tokens.ts';
import type { Action, Context, Feature } from './define.ts';

const endToken: Action = {
  id: 'tokens:end',
  needs: 'none',
  async run(id, context) {
    const { audit, clientTokens, person } = context;
    const hasEnded = await clientTokens.end(person, id);
    if (hasEnded)
      await audit.record({
        tenant: tenantId(person),
        actor: person.userId,
        event: 'token-ended',
        subject: person.userId,
        detail: {},
      });
    return showTokens(context, hasEnded ? 'Revoked.' : 'It was already revoked or expired.');
  },
};

/** A person's tokens for clients other than Slack, made and shown on the bot's own page. */
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
  const [all, policy, linked] = await Promise.all([
    clientTokens.list(person),
    authorizer.policy(),
    authorizer.linked(),
  ]);
  if (!linked)
    throw new UserError(
      'You have not connected a CDN key yet.',
      'Connect yours: it takes a minute.',
      'connect',
    );
  const { url, minutes } = await keyPage.offer();
  return renderTokens({
    tokens: all,
    makeAt: `${url}/client`,
    minutes,
    isOff: (policy.assistant ?? 'off') === 'off',
    done,
  });
}
