import { domainToASCII } from 'node:url';

const longestHost = 2_000;

/** `https://CDN.example.com/a.jpg` → `cdn.example.com`, since people paste addresses. */
export function readHost(typed: string): string {
  // The patterns take the square of its length; a workflow may send any text.
  const host = typed
    .trim()
    .slice(0, longestHost)
    .toLowerCase()
    .replace(/^#(?=\d+$)/u, '')
    // As in a sentence, and as Slack writes a link.
    .replace(/^[<("'“‘`]+(?=[^\s]*[.。])|(?<=[.。][^\s]*?)(?:\|[^>]*)?[>)"'”’`,;!?.]+$/gu, '')
    .replaceAll('。', '.')
    .replace(/^(?:[a-z]+:)?\/\/(?:[^/@]*@)?(\[[^\]]*\]|[^/:?#]+).*$/u, '$1')
    .replace(/^((?:\*\.)?[\p{L}\p{M}\d_-]+(?:\.[\p{L}\p{M}\d_-]+)+)(?:[:/?#].*)$/u, '$1')
    .replace(/\.$/u, '');
  return host.includes('.') ? toAscii(host) : host;
}

function toAscii(host: string): string {
  // oxlint-disable-next-line no-control-regex -- matches anything that is not ASCII
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

const maxHosts = 20;
const maxLength = 200_000;

/** A hostname in a sentence, which Slack links only where it knows the ending; neither a file's name nor of a mail address. */
const bareHost =
  /(?<![\p{L}\p{M}\d@._/-])((?:\*\.)?(?:[\p{L}\d](?:[\p{L}\p{M}\d-]*[\p{L}\p{M}\d])?\.)+(?!(?:html?|js|ts|css|json|xml|txt|md|log|csv|pdf|zip|php|png|jpe?g|gif|svg|webp)\b)(?:xn--[a-z\d-]+|\p{L}{2,}))(?![\p{L}\p{M}\d@_-])/giu;

/** The hosts of the links in a Slack message, else those in its words, each once, without images and Slack's own. */
export function findLinkedHosts(message: unknown): string[] {
  const texts: string[] = [];
  const json = JSON.stringify(message, (member, value: unknown) => {
    if (typeof value === 'string' && /^(?:text|fallback|title|pretext|value)$/u.test(member))
      texts.push(value);
    return /image|thumb|icon/u.test(member) ? undefined : value;
  }) as string | undefined;
  // In mrkdwn a link is `<https://…|label>`; in plain text it is the address itself.
  const linked = toHosts(
    (json ?? '')
      .slice(0, maxLength)
      .matchAll(/\bhttps?:\/\/(?:[^\s/?#@<>|"\\]*@)?([\p{L}\d](?:[\p{L}\p{M}\d.-]*[\p{L}\p{M}\d])?)/giu),
  );
  return linked.length > 0 ? linked : toHosts(texts.join('\n').slice(0, maxLength).matchAll(bareHost));
}

function toHosts(found: Iterable<RegExpExecArray>): string[] {
  const hosts = [...found].map(([, host = '']) => toAscii(host.toLowerCase()));
  const others = hosts.filter(
    (host) => host.includes('.') && !/(?:^|\.)slack(?:-edge|-files)?\.com$/u.test(host),
  );
  return [...new Set(others)].slice(0, maxHosts);
}
