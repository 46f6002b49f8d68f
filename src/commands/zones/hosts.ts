import { domainToASCII } from 'node:url';

/** `https://CDN.example.com/a.jpg` → `cdn.example.com`, since people paste addresses. */
export function readHost(typed: string): string {
  const host = typed
    .trim()
    .toLowerCase()
    .replace(/^#(?=\d+$)/u, '')
    .replace(/^[a-z]+:\/\/(?:[^/@]*@)?([^/:?#]+).*$/u, '$1')
    .replace(/^([\p{L}\p{M}\d-]+(?:\.[\p{L}\p{M}\d-]+)+)(?:[:/?#].*)$/u, '$1')
    .replace(/\.$/u, '');
  return host.includes('.') ? toAscii(host) : host;
}

/** `müller.example` → `xn--mller-kva.example`; other texts as they are. */
function toAscii(host: string): string {
  // oxlint-disable-next-line no-control-regex -- what is not ASCII is looked for
  return /[^\u0000-\u007f]/u.test(host) ? domainToASCII(host) || host : host;
}

/** Whether a hostname is this one, in any spelling; a wildcard stands for one label. `wanted` as `readHost` gives it. */
export function hasHostname(
  { hostnames }: { readonly hostnames: readonly string[] },
  wanted: string,
): boolean {
  return hostnames.some((hostname) => {
    const own = toAscii(hostname.toLowerCase()).replace(/\.$/u, '');
    return (
      own === wanted ||
      (own.startsWith('*.') && own.slice(1) === wanted.slice(Math.max(0, wanted.indexOf('.'))))
    );
  });
}

/** Nodes of one message that are read; messages of people have fewer. */
const maxNodes = 2000;
const maxHosts = 20;

/**
 * The hosts of the links in a Slack message, each once, in reading order: links in its text, blocks, attachments and
 * shared messages. Slack's own hosts are left out. Accepts any value and never throws.
 */
export function findLinkedHosts(message: unknown): string[] {
  const hosts = new Set<string>();
  let pieces = 0;
  const look = (node: unknown): void => {
    pieces += 1;
    if (pieces > maxNodes || hosts.size >= maxHosts) return;
    if (typeof node === 'string') for (const host of findHosts(node)) hosts.add(host);
    else if (Array.isArray(node)) for (const child of node) look(child);
    else if (typeof node === 'object' && node !== null) {
      const own = node as Record<string, unknown>;
      for (const name of textMembers) if (name in own) look(own[name]);
    }
  };
  look(message);
  return [...hosts].slice(0, maxHosts);
}

/** Members with text and addresses of a message, its blocks and attachments. Ids, names and images are not read. */
const textMembers = (
  'text blocks elements fields rows url attachments message_blocks message pretext title title_link from_url ' +
  'original_url value fallback'
).split(' ');

/** In mrkdwn a link is `<https://…|label>`; in plain text it is the address itself. */
function findHosts(text: string): string[] {
  const found = text
    .slice(0, 50_000)
    .matchAll(/\bhttps?:\/\/(?:[^\s/?#@<>|]*@)?([\p{L}\d](?:[\p{L}\p{M}\d.-]*[\p{L}\p{M}\d])?)/giu);
  return [...found]
    .map(([, host = '']) => toAscii(host.toLowerCase()))
    .filter((host) => host.includes('.') && !/(?:^|\.)slack(?:-edge|-files)?\.com$/u.test(host));
}
