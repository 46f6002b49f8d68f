/** What is looked at in one message: more is no message that somebody wrote. */
const mostPieces = 2000;
const mostHosts = 20;

/**
 * The hosts of the links in a Slack message, each once, in the order they are read: links in its text, in its blocks
 * and in what is attached or shared in it. Slack's own are left out. Looks at anything and never throws.
 */
export function findLinkedHosts(message: unknown): string[] {
  const hosts = new Set<string>();
  let pieces = 0;
  const look = (node: unknown): void => {
    pieces += 1;
    if (pieces > mostPieces || hosts.size >= mostHosts) return;
    if (typeof node === 'string') for (const host of hostsIn(node)) hosts.add(host);
    else if (Array.isArray(node)) for (const child of node) look(child);
    else if (typeof node === 'object' && node !== null) {
      const own = node as Record<string, unknown>;
      for (const name of places) if (name in own) look(own[name]);
    }
  };
  look(message);
  return [...hosts].slice(0, mostHosts);
}

/** Where a message, its blocks and its attachments keep text and addresses. Ids, names and images are not read. */
const places = [
  'text',
  'blocks',
  'elements',
  'fields',
  'rows',
  'url',
  'attachments',
  'message_blocks',
  'message',
  'pretext',
  'title',
  'title_link',
  'from_url',
  'original_url',
  'value',
  'fallback',
];

/** In mrkdwn a link is `<https://…|label>`; in plain text it stands as it is. */
function hostsIn(text: string): string[] {
  const found = text
    .slice(0, 50_000)
    .matchAll(/\bhttps?:\/\/(?:[^\s/?#@<>|]*@)?([a-z\d](?:[a-z\d.-]*[a-z\d])?)/giu);
  return [...found]
    .map(([, host = '']) => host.toLowerCase())
    .filter((host) => host.includes('.') && !/(?:^|\.)slack(?:-edge|-files)?\.com$/u.test(host));
}
