import { readFile, stat } from 'node:fs/promises';
import { UserError } from '../errors.ts';
import { Secret } from '../secrets/secret.ts';

/**
 * The CDN key in a file. @throws UserError where it cannot be read, others can read it, or it holds anything else.
 */
export async function readKeyFile(path: string): Promise<Secret> {
  const [{ mode }, text] = await Promise.all([stat(path), readFile(path, 'utf8')]).catch(() => {
    throw new UserError(
      `The key file ${path} cannot be read.`,
      'Name one that holds the key and nothing else.',
    );
  });
  if (process.platform !== 'win32' && (mode & 0o077) !== 0)
    throw new UserError(`The key file ${path} can be read by others on this machine.`, `chmod 600 ${path}`);
  const key = text.trim();
  if (key === '' || /\s/u.test(key))
    throw new UserError(`The key file ${path} must hold one key and nothing else.`);
  return new Secret(key, 'cdn-key');
}
