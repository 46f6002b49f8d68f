/**
 * The folder of a path, at most two deep: `/img/a.png` → `/img/…`, `/api/orders/17` → `/api/orders/…`. A path at the top
 * stays: `/cart`. A host in front stays, without its scheme.
 */
export function findPathPrefix(path: string): string {
  const rest = path.startsWith('/') ? path : path.replace(/^[a-z][a-z\d+.-]*:\/\//iu, '');
  const root = rest.indexOf('/');
  const first = root === -1 ? -1 : rest.indexOf('/', root + 1);
  if (first === -1) return rest.slice(0, 120) || '/';
  const second = rest.indexOf('/', first + 1);
  return `${rest.slice(0, Math.min(second === -1 ? first : second, 120)) || '/'}/…`;
}
