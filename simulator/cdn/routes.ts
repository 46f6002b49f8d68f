import {
  type Answer,
  type Call,
  coreError,
  emptyAnswer,
  jsonAnswer,
  problem,
  shapeA,
  shapeB,
  shapeC,
} from './answer.ts';
import { listApiKeys } from './api-keys.ts';
import { applicationSummary, deleteVolumeInstances } from './apps.ts';
import { exportEventLogs } from './event-logs.ts';
import type { CdnData, Unauthorized } from './model.ts';
import { originErrorLogs } from './origin-errors.ts';
import type { Host } from './requests.ts';
import { uploadScanningMetrics } from './upload-scanning.ts';
import { updateVariable } from './variables.ts';
import { listPullZones } from './zone-list.ts';

type Surface = 'core' | 'compute' | 'summary' | 'volumes' | 'metrics' | 'export' | 'origin';

export interface Route {
  host: Host;
  method: 'GET' | 'POST' | 'DELETE';
  path: RegExp;
  surface: Surface;
  /** Refused to a restricted key. */
  fullRights?: true;
  handle: (call: Call, data: CdnData) => Answer;
}

const segment = '([^/]+)';
const at = (...parts: string[]): RegExp => new RegExp(`^/${parts.join('/')}$`);

/** The eight operations of the specification. */
const routes: readonly Route[] = [
  { host: 'main', method: 'GET', path: at('pullzone'), surface: 'core', handle: listPullZones },
  { host: 'main', method: 'GET', path: at('apikey'), surface: 'core', fullRights: true, handle: listApiKeys },
  {
    host: 'main',
    method: 'POST',
    path: at('compute', 'script', segment, 'variables', segment),
    surface: 'compute',
    handle: updateVariable,
  },
  {
    host: 'origin-logging',
    method: 'GET',
    path: at(segment, segment),
    surface: 'origin',
    handle: originErrorLogs,
  },
  {
    host: 'main',
    method: 'GET',
    path: at('mc', 'apps', segment, 'summary'),
    surface: 'summary',
    handle: applicationSummary,
  },
  {
    host: 'main',
    method: 'DELETE',
    path: at('mc', 'apps', segment, 'volumes', segment),
    surface: 'volumes',
    handle: deleteVolumeInstances,
  },
  {
    host: 'main',
    method: 'GET',
    path: at('shield', 'metrics', 'shield-zone', segment, 'upload-scanning'),
    surface: 'metrics',
    handle: uploadScanningMetrics,
  },
  {
    host: 'main',
    method: 'POST',
    path: at('shield', 'event-logs', segment, 'export'),
    surface: 'export',
    handle: exportEventLogs,
  },
];

/** The route of a request with its decoded path parameters, or the answer to a request that has none. */
export function findRoute(
  host: Host,
  method: string,
  path: string,
): { route: Route; params: string[] } | Answer {
  const matching = routes.filter((route) => route.host === host && route.path.test(path));
  const route = matching.find((route) => route.method === method);
  if (!route) {
    if (matching.length === 0) return emptyAnswer(404);
    return { status: 405, headers: { allow: matching.map((route) => route.method).join(', ') } };
  }
  try {
    return { route, params: (route.path.exec(path) ?? []).slice(1).map(decodeURIComponent) };
  } catch {
    return emptyAnswer(404);
  }
}

/** A surface's answer to a key it does not accept. */
export function unauthorized(surface: Surface, style: Unauthorized): Answer {
  switch (surface) {
    case 'core':
    case 'compute':
      return style.core === 'empty'
        ? emptyAnswer(401)
        : jsonAnswer({ Message: 'Authorization has been denied for this request.' }, 401);
    case 'summary':
    case 'origin':
      return emptyAnswer(401);
    case 'volumes':
      return shapeB(401, 'Unauthorized', 'A valid personal API key is required.');
    case 'metrics':
    case 'export':
      if (style.shield === 'problem') {
        const type = 'https://tools.ietf.org/html/rfc9110#section-15.5.2';
        return problem({
          type,
          title: 'Unauthorized',
          status: 401,
          traceId: '00-0af7651916cd43dd-b7ad6b71-00',
        });
      }
      return surface === 'metrics'
        ? shapeC(401)
        : shapeB(401, 'Unauthorized', 'The access key is not valid.');
  }
}

/** A surface's answer with a forced status that has no body of its own. */
export function standardAnswer(status: number, surface: Surface, style: Unauthorized): Answer {
  if (status === 401) return unauthorized(surface, style);
  // 429 and server errors of core, shield and origin logs are declared without a body.
  const bare = surface !== 'volumes' && surface !== 'summary';
  if (status === 429 || (status >= 500 && bare)) return emptyAnswer(status);
  if (surface === 'core' || surface === 'compute') {
    return coreError(status, 'simulated', `The service answered ${status}.`);
  }
  if (surface === 'volumes' || surface === 'summary') {
    return shapeA(status, 'Simulated', `The service answered ${status}.`, { id: 'simulated' });
  }
  return shapeB(status, 'Simulated', `The service answered ${status}.`);
}
