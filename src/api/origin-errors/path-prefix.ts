/**
 * The folder a path is in, at most two deep: `/img/a.png` → `/img/…`, `/api/orders/17` → `/api/orders/…`. What lies at
 * the top stands for itself: `/cart`. A host in front stays, without its scheme.
 */
export function pathPrefix(path: string): string {
  const start = path.startsWith('/') ? 0 : pathStart(path);
  const first = path.indexOf('/', start + 1);
  if (first === -1) return shortened(start === -1 ? path : path.slice(hostStart(path)));
  const second = path.indexOf('/', first + 1);
  return `${shortened(path.slice(hostStart(path), second === -1 ? first : second))}/…`;
}

/** Where the path begins behind a host, `//` of the scheme skipped; -1 where there is none. */
function pathStart(path: string): number {
  return path.indexOf('/', hostStart(path));
}

function hostStart(path: string): number {
  if (path.startsWith('/')) return 0;
  return /^[a-z][a-z\d+.-]*:\/\//iu.exec(path)?.[0].length ?? 0;
}

function shortened(prefix: string): string {
  return (prefix.length > 120 ? prefix.slice(0, 120) : prefix) || '/';
}
