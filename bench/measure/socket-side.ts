import { randomUUID } from 'node:crypto';
import type { Server } from 'node:http';
import { type WebSocket, WebSocketServer } from 'ws';

/** The Socket Mode half of the benchmarks' Slack: deliveries take turns over the open connections. */
export interface SocketSide {
  readonly attach: (server: Server) => void;
  /** An address for one more connection. */
  readonly ticket: () => string;
  /** Sends a command; resolves with ms to its acknowledgement, or undefined where it is lost. */
  readonly deliver: (payload: object) => Promise<number | undefined>;
  /** Connections that deliveries can go over. */
  readonly ready: () => number;
  readonly waitFor: (connections: number) => Promise<void>;
  /** Tells every connection that is open now to go, one after the other with a pause between. */
  readonly refreshAll: (pauseMs: number) => Promise<void>;
  /** Total ms without any connection, and the longest stretch of it, since this was last asked. */
  readonly gaps: () => number;
  readonly close: () => void;
}

// Slack shows "the app did not respond" after three seconds (docs.slack.dev/interactivity/handling-user-interaction).
const patienceMs = 3_000;
// Slack closes what does not leave by itself some seconds after its notice.
const closesAfterMs = 10_000;

export function createSocketSide(base: () => string): SocketSide {
  const sockets = new WebSocketServer({ noServer: true });
  const waiting = new Map<string, () => void>();
  let open: WebSocket[] = [];
  let turn = 0;
  let emptySince: number | undefined;
  let longestGap = 0;
  const watchers = new Set<() => void>();

  const notifyWatchers = (): void => {
    const now = performance.now();
    if (open.length === 0) emptySince ??= now;
    else if (emptySince !== undefined) {
      longestGap = Math.max(longestGap, now - emptySince);
      emptySince = undefined;
    }
    for (const watcher of watchers) watcher();
  };
  const leave = (socket: WebSocket): void => {
    open = open.filter((other) => other !== socket);
    notifyWatchers();
  };

  return {
    attach(server) {
      server.on('upgrade', (request, socket, head) => {
        sockets.handleUpgrade(request, socket, head, (made) => {
          made.on('message', (data: Buffer) => {
            const { envelope_id: id } = JSON.parse(data.toString()) as { envelope_id?: string };
            if (id) waiting.get(id)?.();
          });
          made.on('error', () => made.terminate());
          made.on('close', () => leave(made));
          made.send(
            JSON.stringify({
              type: 'hello',
              num_connections: open.length + 1,
              connection_info: { app_id: 'A0BENCH00' },
            }),
          );
          open.push(made);
          notifyWatchers();
        });
      });
    },
    ticket: () => `ws://${base()}/link/?ticket=${randomUUID()}`,
    deliver: (payload) =>
      new Promise((resolve) => {
        turn += 1;
        const socket = open[turn % Math.max(1, open.length)];
        if (!socket) return resolve(undefined);
        const id = randomUUID();
        const text = JSON.stringify({
          envelope_id: id,
          type: 'slash_commands',
          accepts_response_payload: true,
          payload,
        });
        const timer = setTimeout(() => {
          waiting.delete(id);
          resolve(undefined);
        }, patienceMs);
        const sent = performance.now();
        waiting.set(id, () => {
          clearTimeout(timer);
          waiting.delete(id);
          resolve(performance.now() - sent);
        });
        socket.send(text);
      }),
    ready: () => open.length,
    waitFor: (connections) =>
      new Promise((resolve) => {
        const look = (): void => {
          if (open.length < connections) return;
          watchers.delete(look);
          resolve();
        };
        watchers.add(look);
        look();
      }),
    async refreshAll(pauseMs) {
      const before = open;
      for (const socket of before) {
        socket.send(
          JSON.stringify({ type: 'disconnect', reason: 'refresh_requested', debug_info: { host: 'bench' } }),
        );
        setTimeout(() => socket.terminate(), closesAfterMs).unref();
        // Slack delivers nothing over a connection that got its disconnect notice.
        leave(socket);
        await new Promise((resolve) => setTimeout(resolve, pauseMs));
      }
    },
    gaps() {
      const gap = Math.max(longestGap, emptySince === undefined ? 0 : performance.now() - emptySince);
      longestGap = 0;
      return gap;
    },
    close() {
      for (const socket of sockets.clients) socket.terminate();
      sockets.close();
    },
  };
}
