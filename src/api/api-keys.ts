import { z } from 'zod';
import { registerSecret, type Secret } from '../secrets/secret.ts';
import { compareNames, id, readLeniently, text, texts } from './http/lenient.ts';
import { createPages } from './http/lists.ts';
import type { Send } from './http/request.ts';

export interface ApiKey {
  readonly id: string;
  /** An open set: `User`, `UserApi`, `SubuserAPICompute`, …; undefined where they are not reported. */
  readonly roles: readonly string[] | undefined;
  /** The last four characters; absent if the key is short or not reported. */
  readonly tail?: string;
  /** Undefined where the key itself is not reported. */
  readonly isOwn: boolean | undefined;
}

const record = z.object({ Id: id, Key: text, Roles: texts });

export function createApiKeys(send: Send, own: Secret) {
  const pages = createPages(send, { operation: 'List API Keys', path: '/apikey' });
  return {
    async list(): Promise<{ keys: ApiKey[]; skipped: number }> {
      const { kept: keys, skipped } = await pages.readAll(undefined, (raw, reply): ApiKey | undefined => {
        const read = readLeniently(record, raw);
        if (!read) return undefined;
        reply.reportDrift({ wrong: read.wrong, ...compareNames(raw, record.shape) });
        // Keys arrive in plain text and do not leave this function.
        const { Id, Key, Roles } = read.value;
        registerSecret('api-key', Key);
        const tail = Key && Key.length >= 16 ? { tail: Key.slice(-4) } : {};
        return { id: Id, roles: Roles ?? undefined, isOwn: Key ? Key === own.reveal() : undefined, ...tail };
      });
      return { keys, skipped };
    },
  };
}
