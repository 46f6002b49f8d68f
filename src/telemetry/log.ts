import type { Writable } from 'node:stream';
import pino from 'pino';
import { findFailedHost } from '../lib/network-failure.ts';
import { isSecretField, secretShapes } from '../secrets/fields.ts';
import { redactSecrets } from '../secrets/scanner.ts';
import { Secret } from '../secrets/secret.ts';
import { findReference } from './reference.ts';

export interface Log {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

let standardOutput: LineWriter | undefined;

/** One JSON line per entry, with its reference. Members and texts that look like a secret are masked at any depth. */
export function createLogger(
  level: LogLevel,
  destination: LineWriter = (standardOutput ??=
    createBoundedWriter(process.stdout)),
): Log {
  const options: pino.LoggerOptions = {
    level,
    base: { pid: process.pid },
    timestamp: pino.stdTimeFunctions.isoTime,
    mixin: () => ({ reference: findReference() }),
    formatters: { level: (label) => ({ level: label }), log: (fields) => cleanMembers(fields, 0) },
    hooks: { streamWrite: (line) => redactSecrets(line.replaceAll(maskedInLines, masked)) },
  };
  return pino(options, destination);
}

interface LineWriter {
  write(line: string): void;
}

const mostUnwritten = 1_000_000;

/** Drops lines above a bound while nobody reads; the next line tells how many. */
export function createBoundedWriter(stream: Writable): LineWriter {
  let dropped = 0;
  // A reader that went away must not end the bot.
  stream.on('error', () => undefined);
  return {
    write(line) {
      if (stream.writableLength + line.length > mostUnwritten) {
        dropped += 1;
        return;
      }
      if (dropped > 0) {
        const notice = {
          level: 'warn',
          time: new Date(),
          pid: process.pid,
          dropped,
          msg: 'log lines dropped',
        };
        stream.write(`${JSON.stringify(notice)}\n`);
        dropped = 0;
      }
      stream.write(line);
    },
  };
}

const masked = '[secret]';

// Deeper than anything that is logged on purpose. Also ends cycles.
const maxDepth = 6;
const maxItems = 50;

function clean(value: unknown, depth: number): unknown {
  if (typeof value === 'bigint') return value.toString();
  if (typeof value === 'function' || typeof value === 'symbol') return undefined;
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Secret) return masked;
  if (value instanceof Date) return value;
  if (value instanceof Error) return errorFields(value, depth);
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
  if (value instanceof URL) return value.href;
  if (depth >= maxDepth) return '[deeper]';
  if (Array.isArray(value)) return value.slice(0, maxItems).map((item) => clean(item, depth + 1));
  const prototype: unknown = Object.getPrototypeOf(value);
  // Only plain objects are written: clients, requests and answers hold their options, tokens included.
  if (prototype !== null && prototype !== Object.prototype) return `[${value.constructor?.name ?? 'object'}]`;
  return cleanMembers(value, depth);
}

function cleanMembers(fields: object, depth: number): Record<string, unknown> {
  const cleaned: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(fields)) {
    cleaned[name] = isSecretField(name, value) ? masked : clean(value, depth + 1);
  }
  return cleaned;
}

// An allow-list: other members of thrown errors hold requests, headers and query parameters.
function errorFields(error: Error, depth: number): Record<string, unknown> {
  const { code, name, message, stack, cause } = error as NodeJS.ErrnoException;
  return {
    host: findFailedHost(error),
    ...(['string', 'number'].includes(typeof code) && { code }),
    name,
    message,
    stack,
    ...(cause instanceof Error && depth < maxDepth && { cause: errorFields(cause, depth + 1) }),
  };
}

// Applied once to each finished line, so also to messages, stacks and text of libraries.
const maskedInLines = new RegExp(
  [
    ...secretShapes,
    String.raw`(?<=\b(?:bearer|basic) )[\w.~+/=-]{8,}`,
    String.raw`(?<=\baccesskey\W{1,6})[\w.~+/=-]{8,}`,
    String.raw`(?<=:\/\/)[^\s/@"\\]+(?=@)`,
    String.raw`(?<=[?&](?:ticket|token|code|client_secret|secret|key|accesskey)=)[^&\s"\\]+`,
    String.raw`(?<=\bhooks\.slack\.com\/)[^\s"\\]+`,
  ].join('|'),
  'gi',
);
