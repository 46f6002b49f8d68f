import type { ServerResponse } from 'node:http';
import type { Egress } from './egress.ts';

type Head = [status: number, ...rest: unknown[]];

/**
 * Checks what an HTTP answer says, head and body, whoever writes it (our routes, the OAuth library): the head waits for
 * the first piece of the body, so that an answer that must not leave can become another one. What comes after the head
 * was sent ends the connection instead.
 */
export function guardResponse(response: ServerResponse, egress: Egress): void {
  const writeHead = response.writeHead.bind(response);
  const write = response.write.bind(response);
  const end = response.end.bind(response);
  let head: Head | undefined;
  let stopped = false;

  const passes = (piece: unknown): boolean => {
    const isText = typeof piece === 'string' || ArrayBuffer.isView(piece);
    const content = [
      isText ? piece : '',
      response.headersSent ? [] : [response.getHeaders(), head?.slice(1)],
    ];
    const sentence = egress.instead('http', content);
    if (sentence === undefined) {
      // Node itself writes the head with this method where nobody did.
      response.writeHead = writeHead;
      if (head) Reflect.apply(writeHead, undefined, head);
      head = undefined;
      return true;
    }
    stopped = true;
    response.writeHead = writeHead;
    if (response.headersSent) {
      response.destroy();
      return false;
    }
    for (const name of response.getHeaderNames()) response.removeHeader(name);
    response.writeHead(500, { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' });
    Reflect.apply(end, undefined, [`${sentence}\n`]);
    return false;
  };

  Object.assign(response, {
    writeHead(...args: Head) {
      head = args;
      return response;
    },
    write(...args: unknown[]) {
      return stopped || (passes(args[0]) && Reflect.apply(write, undefined, args));
    },
    end(...args: unknown[]) {
      if (!stopped && passes(args[0])) Reflect.apply(end, undefined, args);
      return response;
    },
  });
}
