import { request } from 'node:http';

/** What a visitor of the page got. */
export interface Visited {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly html: string;
  /** What a person reads: without markup. */
  readonly reads: string;
}

/** One HTTP request, sent exactly as told: no browser's own headers, no redirects. */
export function visit(
  url: string,
  options: { method?: string; headers?: Record<string, string>; body?: string } = {},
): Promise<Visited> {
  return new Promise((resolve, reject) => {
    const { method = 'GET', headers = {}, body } = options;
    const sent = request(url, { method, headers, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const html = Buffer.concat(chunks).toString('utf8');
        const reads = html
          .replace(/<style>[\s\S]*?<\/style>/, '')
          .replaceAll(/<[^>]*>/g, ' ')
          .replaceAll(/\s+/g, ' ')
          .replaceAll('&#39;', "'")
          .replaceAll('&amp;', '&');
        resolve({ status: response.statusCode ?? 0, headers: response.headers, html, reads });
      });
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

/** The fields that the form of a page would send untouched, and where to. */
export function formOn(page: Visited, url: string): { action: string; fields: Record<string, string> } {
  const action = /<form[^>]*\baction="([^"]*)"/.exec(page.html)?.[1];
  if (action === undefined) throw new Error(`there is no form: ${page.status} ${page.reads}`);
  const fields: Record<string, string> = {};
  for (const [, name = '', value = ''] of page.html.matchAll(
    /<input type="hidden" name="(\w+)" value="([^"]*)">/g,
  ))
    fields[name] = value;
  return { action: new URL(action, url).href, fields };
}

/** Sends a form as a current browser does. */
export function sendForm(
  url: string,
  fields: Record<string, string>,
  headers: Record<string, string> = {},
): Promise<Visited> {
  const body = new URLSearchParams(fields).toString();
  const all = {
    'content-type': 'application/x-www-form-urlencoded',
    'content-length': String(Buffer.byteLength(body)),
    // What Chromium sends for a form on a page whose referrer policy is no-referrer.
    origin: 'null',
    'sec-fetch-site': 'same-origin',
    ...headers,
  };
  return visit(url, { method: 'POST', headers: all, body });
}

/** Opens a link, enters a key and sends the form. */
export async function enterKey(url: string, key: string): Promise<Visited> {
  const { action, fields } = formOn(await visit(url), url);
  return sendForm(action, { ...fields, accessKey: key });
}
