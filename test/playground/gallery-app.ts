import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { SlackSimulator } from '../../simulator/slack/server.ts';
import { galleryForm } from './gallery.ts';

type Json = Record<string, unknown>;

export interface GalleryApp {
  /** Payloads of everything people did, in order. */
  readonly seen: Json[];
  /** The id of the modal opened last. */
  viewId(): string;
  call(method: string, args: Json): Promise<Json>;
  close(): Promise<void>;
}

/** An app of a few lines: opens the gallery's form for any command, answers pickers, refuses the text “wrong”. */
export async function startGalleryApp(slack: SlackSimulator): Promise<GalleryApp> {
  const seen: Json[] = [];
  let viewId = '';

  const call = async (method: string, args: Json): Promise<Json> => {
    const response = await fetch(`${slack.url}/api/${method}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${slack.botToken}` },
      body: JSON.stringify(args),
    });
    const answer = (await response.json()) as Json;
    if (answer['ok'] !== true) throw new Error(`${method}: ${JSON.stringify(answer)}`);
    return answer;
  };

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const fields = await read(request);
    const payload = fields.get('payload');
    if (payload !== null) {
      const body = JSON.parse(payload) as Json;
      seen.push(body);
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(answerTo(body)) ?? '');
      return;
    }
    response.end();
    // Events (the Home tab was opened) come without a command.
    if (fields.get('command') === null) return;
    const answer = await call('views.open', { trigger_id: fields.get('trigger_id'), view: galleryForm });
    viewId = String((answer['view'] as Json)['id']);
  };
  const server = createServer((request, response) => void handle(request, response));
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  slack.deliverTo(`http://127.0.0.1:${(server.address() as AddressInfo).port}/slack/events`);
  return {
    seen,
    viewId: () => viewId,
    call,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function answerTo(body: Json): Json | undefined {
  if (body['type'] === 'block_suggestion') {
    const typed = String(body['value']);
    return {
      options: [1, 2].map((n) => ({ text: { type: 'plain_text', text: `${typed} ${n}` }, value: `z${n}` })),
    };
  }
  if (body['type'] === 'view_submission' && JSON.stringify(body).includes('"value":"wrong"')) {
    return { response_action: 'errors', errors: { text: 'That is the wrong text.' } };
  }
  return undefined;
}

async function read(request: IncomingMessage): Promise<URLSearchParams> {
  let body = '';
  for await (const part of request) body += String(part);
  return new URLSearchParams(body);
}
