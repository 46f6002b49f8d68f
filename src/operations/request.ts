import { z } from 'zod';
import type { Secret } from '../secrets/secret.ts';
import type { OperationKind, OperationRequest, ShownRequest } from './model.ts';
import { canonicalJson } from './seal.ts';

/** A request as it is sealed and stored. The value of a variable is kept apart. */
export interface StoredRequest {
  readonly method: string;
  readonly path: string;
  readonly body: string | null;
}

/** The request as it goes to the CDN. Which ids are right is for `src/api` to say, before anybody asks. */
export function toStoredRequest(request: OperationRequest): StoredRequest {
  switch (request.kind) {
    case 'volume-delete':
      return {
        method: 'DELETE',
        path: pathOf('mc', 'apps', request.appId, 'volumes', request.volumeId),
        body: null,
      };
    case 'variable-update':
      return {
        method: 'POST',
        path: pathOf('compute', 'script', request.scriptId, 'variables', request.variableId),
        body: canonicalJson(request.required === undefined ? {} : { Required: request.required }),
      };
  }
}

/** What is stored, read back; undefined where it is no request of this kind, written this way. */
export function readRequest(
  kind: string,
  stored: StoredRequest & { readonly setsValue: boolean },
): ShownRequest | undefined {
  const found = parse(kind, stored);
  // One request has one spelling: what does not come back the same was not written by `storedRequest`.
  if (!found) return undefined;
  const again = toStoredRequest(found);
  const same = again.method === stored.method && again.path === stored.path && again.body === stored.body;
  return same ? found : undefined;
}

/** The same with its value, to be sent. */
export function attachValue(request: ShownRequest, value: Secret | undefined): OperationRequest {
  if (request.kind === 'volume-delete') return request;
  const { setsValue: _setsValue, ...rest } = request;
  return { ...rest, value };
}

/** Shown for a row that cannot be read any more: the first click voids it. */
export function unreadableRequest(kind: OperationKind): ShownRequest {
  return kind === 'volume-delete'
    ? { kind, appId: '?', volumeId: '?' }
    : { kind, scriptId: '?', variableId: '?', setsValue: false };
}

const variableBody = z.strictObject({ Required: z.boolean().optional() });

function parse(
  kind: string,
  { path, body, setsValue }: StoredRequest & { readonly setsValue: boolean },
): ShownRequest | undefined {
  const [first, second, owner, third, thing, ...more] = segmentsOf(path);
  if (owner === undefined || thing === undefined || more.length > 0) return undefined;
  const place = `${first}/${second}//${third}`;
  if (kind === 'volume-delete' && place === 'mc/apps//volumes') {
    return { kind, appId: owner, volumeId: thing };
  }
  if (kind !== 'variable-update' || place !== 'compute/script//variables' || body === null) return undefined;
  const parsed = variableBody.safeParse(toJson(body));
  if (!parsed.success) return undefined;
  const { Required: required } = parsed.data;
  return {
    kind,
    scriptId: owner,
    variableId: thing,
    ...(required === undefined ? {} : { required }),
    setsValue,
  };
}

function pathOf(...segments: string[]): string {
  return `/${segments.map(encodeURIComponent).join('/')}`;
}

function segmentsOf(path: string): string[] {
  if (!path.startsWith('/')) return [];
  try {
    return path.slice(1).split('/').map(decodeURIComponent);
  } catch {
    return [];
  }
}

/** Undefined where it is no JSON. */
export function toJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
