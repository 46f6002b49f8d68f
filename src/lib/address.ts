/** https everywhere; plain http only to this machine, for local tests. */
export function isAddress(value: string): boolean {
  if (!URL.canParse(value)) return false;
  const { protocol, hostname, username, password } = new URL(value);
  if (username || password) return false;
  const isLoopback = /^(?:localhost|\[::1\]|127(?:\.\d{1,3}){3})$/.test(hostname);
  return protocol === 'https:' || (protocol === 'http:' && isLoopback);
}
