import { ApiError } from '../api/http/errors.ts';
import { UserError } from '../errors.ts';
import * as views from '../views/api-keys.ts';
import type { Message } from '../views/blocks/blocks.ts';
import type { Context, Feature } from './define.ts';

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
    return views.renderApiKeys(keys, skipped, context.now());
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
