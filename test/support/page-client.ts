import { request } from 'node:http';

/** The answer to a request of the page. */
export interface PageResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly html: string;
  /** The visible text, without markup. */
  readonly text: string;
}

/** One HTTP request, sent as given: no browser's own headers, no redirects. */
export function fetchPage(
  url: string,
  options: { method?: string; headers?: Record<string, string>; body?: string } = {},
): Promise<PageResponse> {
  return new Promise((resolve, reject) => {
    const { method = 'GET', headers = {}, body } = options;
    const sent = request(url, { method, headers, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const html = Buffer.concat(chunks).toString('utf8');
        const text = html
          .replace(/<style>[\s\S]*?<\/style>/, '')
          .replaceAll(/<[^>]*>/g, ' ')
          .replaceAll(/\s+/g, ' ')
          .replaceAll('&#39;', "'")
          .replaceAll('&amp;', '&');
        resolve({ status: response.statusCode ?? 0, headers: response.headers, html, text });
      });
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

/** The fields that the form of a page would send untouched, and where to. */
export function parseForm(
  page: PageResponse,
  url: string,
): { action: string; fields: Record<string, string> } {
  const action = /<form[^>]*\baction="([^"]*)"/.exec(page.html)?.[1];
  if (action === undefined) throw new Error(`there is no form: ${page.status} ${page.text}`);
  const fields: Record<string, string> = {};
  for (const [, name = '', value = ''] of page.html.matchAll(
    /<input type="hidden" name="(\w+)" value="([^"]*)">/g,
  ))
    fields[name] = value;
  return { action: new URL(action, url).href, fields };
}

/** Sends a form as a current browser does. */
export function submitForm(
  url: string,
  fields: Record<string, string>,
  headers: Record<string, string> = {},
): Promise<PageResponse> {
  const body = new URLSearchParams(fields).toString();
  const all = {
    'content-type': 'application/x-www-form-urlencoded',
    'content-length': String(Buffer.byteLength(body)),
    // As Chromium sends it for a form on a page whose referrer policy is no-referrer.
    origin: 'null',
    'sec-fetch-site': 'same-origin',
    ...headers,
  };
  return fetchPage(url, { method: 'POST', headers: all, body });
}

/** Opens a link, enters a key and sends the form. */
export async function submitKey(url: string, key: string): Promise<PageResponse> {
  const { action, fields } = parseForm(await fetchPage(url), url);
  return submitForm(action, { ...fields, accessKey: key });
}
