import { registerSecrets, type Secret } from '../secrets/secret.ts';
import type { Config } from './config.ts';

/** Registers the configured secrets for as long as the bot runs; the returned function ends that. */
export function registerConfigSecrets({ slack, store, keyring }: Config): () => void {
  const { installing } = slack;
  const oauth = installing.kind === 'oauth' ? installing : undefined;
  const endHolding = registerSecrets({
    'slack-token': [
      installing.kind === 'single' ? installing.botToken.reveal() : undefined,
      slack.appToken?.reveal(),
    ],
    'signing-secret': [slack.signingSecret?.reveal()],
    'client-secret': [oauth?.clientSecret.reveal()],
    'state-secret': [oauth?.stateSecret.reveal()],
    'database-password': passwordOf(store.databaseUrl),
  });
  const endHoldingKeys = registerKeyringSecrets(keyring.keys ? [keyring.keys] : []);
  return () => {
    endHolding();
    endHoldingKeys();
  };
}

/** Registers the keys of a keyring (`kid:base64key`, also several in one). */
export function registerKeyringSecrets(entries: readonly Secret[]): () => void {
  const keys = entries
    .flatMap((entry) => entry.reveal().split(/[\s,]+/u))
    .map((entry) => entry.replace(/^[^:]*:/u, ''));
  return registerSecrets({
    'encryption-key': keys.flatMap((key) => [key, Buffer.from(key, 'base64').toString('hex')]),
  });
}

function passwordOf(databaseUrl: Secret | undefined): string[] {
  const address = databaseUrl?.reveal();
  if (address === undefined || !URL.canParse(address)) return [];
  const { password, searchParams } = new URL(address);
  const given = [password, searchParams.get('password') ?? ''];
  return given.flatMap((one) => [one, unescaped(one)]);
}

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
