import { isIPv4 } from 'node:net';

/** The four numbers of an IPv4 address, or the eight groups of an IPv6 address, which may be shortened by `::`. */
export function listAddressParts(address: string): string[] {
  if (isIPv4(address)) return address.split('.');
  const [start = [], end = []] = address.split('::').map((half) => half.split(':').filter(Boolean));
  return [...start, ...Array.from({ length: 8 - start.length - end.length }, () => '0'), ...end];
}
