import { type Answer, type Call, jsonAnswer, pageEnvelope, readPaging } from './answer.ts';
import { canary } from './canaries.ts';
import type { ApiKey, CdnData } from './model.ts';

/** Five keys of different power; the first two are the ones this simulator accepts. */
export function generateApiKeys(full: string, restricted: string): ApiKey[] {
  return [
    { Id: 77, Key: full, Roles: ['User', 'UserApi'] },
    { Id: 78, Key: restricted, Roles: ['SubuserAPIPullZones'] },
    { Id: 79, Key: canary('api-key', 79), Roles: ['ScopedApiKey'] },
    { Id: 80, Key: canary('api-key', 80), Roles: ['SubuserAPICompute', 'SubuserAPIStorage'] },
    { Id: 81, Key: null, Roles: [] },
  ];
}

/** List API Keys: always the envelope; page from 1. */
export function listApiKeys(call: Call, data: CdnData): Answer {
  const paging = readPaging(call.query, { page: 1 });
  if ('status' in paging) return paging;
  const { page, perPage } = paging;
  const start = (page - 1) * perPage;
  return jsonAnswer({
    Items: data.apiKeys.slice(start, start + perPage),
    ...pageEnvelope(page, perPage, data.apiKeys.length),
  });
}
