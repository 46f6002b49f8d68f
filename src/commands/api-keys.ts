import { ApiError } from '../api/http/errors.ts';
import { UserError } from '../errors.ts';
import { contentHash } from '../lib/canonical-json.ts';
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
      summary: 'API keys of the account: ids, roles, last four characters, which one is yours',
      label: 'API keys',
      examples: ['keys'],
      needs: 'read',
      shares: 'never',
      run: (_, context) => listKeys(context),
    },
  ],
  actions: [{ id: 'api-keys:refresh', needs: 'read', run: (seen, context) => listKeys(context, seen) }],
};

/** `seen` is the hash of the keys whose file has been sent. */
async function listKeys(context: Context, seen?: string): Promise<Message> {
  const cdn = await context.cdn();
  try {
    const listed = await cdn.apiKeys.list();
    const mark = contentHash(listed.keys);
    const { files, ...words } = views.renderApiKeys({ ...listed, asOf: context.now(), refresh: mark });
    return files && mark !== seen ? { ...words, files } : words;
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
