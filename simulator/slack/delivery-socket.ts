import { randomUUID } from 'node:crypto';
import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import { evictOldest } from './clock.ts';
import type { Answer, Delivery, Transport } from './delivery.ts';
import type { Json } from './world.ts';
import { isObject } from './world.ts';

export interface SocketTransport extends Transport {
  attach(server: Server): void;
  /** A one-time address for a connection, as `apps.connections.open` gives it out. */
  ticket(base: string): string;
  readonly connections: () => number;
  readonly refresh: (reason?: 'refresh_requested' | 'warning' | 'link_disabled') => Promise<void>;
  send(delivery: Delivery): Promise<Answer>;
  readonly sendRaw: (envelope: object) => void;
  readonly kill: () => void;
  close(): void;
}

interface Connection {
  readonly socket: WebSocket;
  /** False from its disconnect notice on. */
  ready: boolean;
  readonly pings: NodeJS.Timeout;
}

const mostConnections = 10;
const pingEveryMs = 10_000;
// A connection that stays after its disconnect notice is cut off.
const closesAfterMs = 10_000;

/**
 * Socket Mode: hello, envelopes with ids, acknowledgements, disconnect notices, up to ten connections that take
 * turns (docs.slack.dev/apis/events-api/using-socket-mode). An acknowledgement of an unknown envelope, or a second one, is a problem.
 */
export function createSocketTransport(options: {
  problem: (text: string) => void;
  changed: () => void;
}): SocketTransport {
  const sockets = new WebSocketServer({ noServer: true });
  const tickets = new Set<string>();
  const waiting = new Map<
    string,
    { resolve: (answer: Answer) => void; label: string; takesPayload: boolean }
  >();
  const acknowledged = new Map<string, string>();
  let connections: Connection[] = [];
  let turn = 0;

  function upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const ticket = new URL(request.url ?? '/', 'ws://slack').searchParams.get('ticket') ?? '';
    if (!tickets.delete(ticket)) {
      socket.end('HTTP/1.1 401 Unauthorized\r\nconnection: close\r\n\r\n');
      return;
    }
    sockets.handleUpgrade(request, socket, head, accept);
  }

  function accept(socket: WebSocket): void {
    if (connections.length >= mostConnections) {
      socket.send(
        JSON.stringify({ type: 'disconnect', reason: 'too_many_websockets', debug_info: debugInfo }),
      );
      socket.close();
      return;
    }
    const pings = setInterval(() => socket.ping(), pingEveryMs);
    const connection: Connection = { socket, ready: true, pings };
    socket.on('message', (data: Buffer) => acknowledge(data.toString()));
    socket.on('error', () => socket.terminate());
    socket.on('close', () => {
      clearInterval(pings);
      connections = connections.filter((other) => other !== connection);
      options.changed();
    });
    connections.push(connection);
    const hello = {
      type: 'hello',
      num_connections: connections.length,
      debug_info: debugInfo,
      connection_info: { app_id: 'A0CDNAPP0' },
    };
    socket.send(JSON.stringify(hello));
    options.changed();
  }

  function acknowledge(text: string): void {
    let frame: unknown;
    try {
      frame = JSON.parse(text);
    } catch {
      options.problem(`Socket Mode: a frame that is not JSON: ${text.slice(0, 80)}`);
      return;
    }
    const id = isObject(frame) ? String(frame['envelope_id']) : '';
    const delivery = waiting.get(id);
    if (!delivery) {
      const before = acknowledged.get(id);
      options.problem(
        before === undefined
          ? `Socket Mode: acknowledged an envelope that was never sent`
          : `${before}: acknowledged a second time`,
      );
      return;
    }
    waiting.delete(id);
    acknowledged.set(id, delivery.label);
    evictOldest(acknowledged);
    const payload = (frame as Json)['payload'];
    const empty =
      payload === undefined || payload === null || (isObject(payload) && Object.keys(payload).length === 0);
    delivery.resolve({ status: 200, body: empty || !delivery.takesPayload ? '' : payload });
  }

  function next(): Connection | undefined {
    const ready = connections.filter(
      (connection) => connection.ready && connection.socket.readyState === connection.socket.OPEN,
    );
    turn += 1;
    return ready[turn % Math.max(1, ready.length)];
  }

  return {
    attach(server) {
      server.on('upgrade', upgrade);
    },
    ticket(base) {
      const ticket = randomUUID();
      tickets.add(ticket);
      return `${base.replace(/^http/, 'ws')}/link/?ticket=${ticket}&app_id=A0CDNAPP0`;
    },
    connections: () => connections.length,
    send: (delivery) =>
      new Promise((resolve) => {
        const connection = next();
        if (!connection) {
          resolve({ status: 0, body: '' });
          return;
        }
        const id = randomUUID();
        const takesPayload = delivery.kind !== 'events_api';
        waiting.set(id, { resolve, label: delivery.label, takesPayload });
        const retry = delivery.retry
          ? { retry_attempt: delivery.retry.attempt, retry_reason: delivery.retry.reason }
          : {};
        const first =
          delivery.kind === 'events_api' && !delivery.retry ? { retry_attempt: 0, retry_reason: '' } : retry;
        const envelope = {
          envelope_id: id,
          type: delivery.kind,
          accepts_response_payload: takesPayload,
          payload: delivery.payload,
          ...first,
        };
        connection.socket.send(JSON.stringify(envelope));
      }),
    async refresh(reason = 'refresh_requested') {
      const oldest = connections.find((connection) => connection.ready);
      if (!oldest) return;
      // A warning comes some seconds before the end: until then the connection still carries deliveries.
      if (reason !== 'warning') oldest.ready = false;
      const closed = new Promise<void>((resolve) => {
        oldest.socket.once('close', () => resolve());
      });
      oldest.socket.send(JSON.stringify({ type: 'disconnect', reason, debug_info: debugInfo }));
      const patience = setTimeout(() => oldest.socket.close(), closesAfterMs);
      await closed;
      clearTimeout(patience);
    },
    sendRaw(envelope) {
      const connection = next();
      if (!connection) throw new Error('No Socket Mode connection is open');
      connection.socket.send(JSON.stringify(envelope));
    },
    kill() {
      const cut = connections;
      connections = [];
      for (const { socket } of cut) socket.terminate();
    },
    close() {
      for (const { socket, pings } of connections) {
        clearInterval(pings);
        socket.terminate();
      }
      sockets.close();
    },
  };
}

const debugInfo = { host: 'simulator', build_number: 1, approximate_connection_time: 18_060 };
