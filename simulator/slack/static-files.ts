import { readFile } from 'node:fs/promises';
import { join, normalize, sep } from 'node:path';
import { contentType } from './content-types.ts';
import type { Route } from './http.ts';

/** Serves a directory at `/`; nothing outside it. Without a directory it serves nothing. */
export function createStaticFiles(directory: string | undefined): Route {
  return async (request, response, url) => {
    if (directory === undefined || (request.method !== 'GET' && request.method !== 'HEAD')) return false;
    const root = normalize(directory);
    const wanted = join(root, decodeURIComponent(url.pathname === '/' ? '/index.html' : url.pathname));
    if (!wanted.startsWith(root.endsWith(sep) ? root : root + sep)) return false;
    try {
      const bytes = await readFile(wanted);
      response.writeHead(200, { 'content-type': contentType(wanted), 'cache-control': 'no-store' });
      response.end(request.method === 'HEAD' ? undefined : bytes);
      return true;
    } catch {
      return false;
    }
  };
}
