import { randomInt } from 'node:crypto';
import pino from 'pino';
import { redactSecrets } from '../secrets/scanner.ts';
import { Secret } from '../secrets/secret.ts';

/** What the rest of the bot needs of a logger: a fixed message, and facts beside it. */
export interface Log {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export type LogLevel = 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent';

/**
 * A logger that writes one JSON line an entry, to standard output where no destination is given, and at no level
 * a secret: members that carry one are masked at any depth, whatever looks like one is masked in any string, and
 * of an error only code, name, message and stack are written (DESIGN §7).
 */
export function createLogger(level: LogLevel, destination?: { write: (line: string) => void }): Log {
  const options: pino.LoggerOptions = {
    level,
    // A machine's name says nothing to the reader; the process tells two of them apart.
    base: { pid: process.pid },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: {
      level: (label) => ({ level: label }),
      log: (fields) => cleanMembers(fields, 0),
    },
    hooks: { streamWrite: mask },
  };
  return destination ? pino(options, destination) : pino(options);
}

const hidden = '[secret]';

// Deeper than anything that is logged on purpose; ends cycles as well.
const deepest = 6;
const mostItems = 50;

function clean(value: unknown, depth: number): unknown {
  if (typeof value === 'bigint') return value.toString();
  if (typeof value === 'function' || typeof value === 'symbol') return undefined;
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Secret) return hidden;
  if (value instanceof Date) return value;
  if (value instanceof Error) return errorFields(value);
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
  if (value instanceof URL) return value.href;
  if (depth >= deepest) return '[deeper]';
  if (Array.isArray(value)) return value.slice(0, mostItems).map((item) => clean(item, depth + 1));
  const prototype: unknown = Object.getPrototypeOf(value);
  // Clients, requests and answers hold their options, tokens included: only plain objects are shown.
  if (prototype !== null && prototype !== Object.prototype) return `[${value.constructor?.name ?? 'object'}]`;
  return cleanMembers(value, depth);
}

function cleanMembers(fields: object, depth: number): Record<string, unknown> {
  const cleaned: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(fields)) {
    cleaned[name] = carriesSecret(name, value) ? hidden : clean(value, depth + 1);
  }
  return cleaned;
}

// Members of thrown errors hold requests, headers and query parameters: what is wanted is named, the rest stays out.
function errorFields(error: Error): Record<string, unknown> {
  const code = 'code' in error ? error.code : undefined;
  return {
    ...(typeof code === 'string' || typeof code === 'number' ? { code } : {}),
    name: error.name,
    message: error.message,
    stack: error.stack,
  };
}

const secretNames = new Set(
  [
    'authorization',
    'proxyAuthorization',
    'accessKey',
    'apiKey',
    'key',
    'cookie',
    'setCookie',
    'password',
    'passphrase',
    'secret',
    'token',
    'signature',
    'ticket',
    // Slack: each lets its holder act or read for a while.
    'response_url',
    'response_urls',
    'trigger_id',
    'private_metadata',
    'xSlackSignature',
    // What people typed: keys and variable values among it.
    'initial_value',
    'defaultValue',
    'databaseUrl',
    'connectionString',
    // Members of a zone that the CDN answers with.
    'zoneSecurityKey',
    'awsSigningKey',
    'certificateKey',
    'certificate',
    'certificates',
  ].map(plainName),
);
const secretEndings = ['token', 'secret', 'password', 'accesskey', 'apikey', 'signingkey', 'privatekey'];
// The state and the values of a Slack view hold what was typed; a state that is a word (approved) does not.
const secretContainers = new Set(['state', 'values']);

const known = new Map<string, boolean>();

function carriesSecret(name: string, value: unknown): boolean {
  if (value === undefined || value === null || typeof value === 'boolean') return false;
  if (secretContainers.has(name)) return typeof value === 'object';
  let carries = known.get(name);
  if (carries === undefined) {
    const plain = plainName(name);
    carries = secretNames.has(plain) || secretEndings.some((ending) => plain.endsWith(ending));
    // Names come from code, but also from foreign answers: the memory of them is bounded.
    if (known.size < 2_000) known.set(name, carries);
  }
  return carries;
}

function plainName(name: string): string {
  return name.replaceAll(/[-_]/g, '').toLowerCase();
}

// Runs once over each finished line, so it also reads messages, stacks and text that libraries made.
const secretShapes = new RegExp(
  [
    // Slack's tokens, rotated ones (xoxe.xoxb-…) included.
    String.raw`\bxox[a-z](?:\.xox[a-z])?-[\w-]+`,
    String.raw`\bxapp-[\w-]+`,
    // CDN keys: hexadecimal groups with dashes, longer than a UUID (account keys have 72 characters, storage keys 41).
    String.raw`\b[0-9a-f]{8}(?:-[0-9a-f]{4,20}){5,}\b`,
    String.raw`(?<=\b(?:bearer|basic) )[\w.~+/=-]{8,}`,
    String.raw`(?<=\baccesskey\W{1,6})[\w.~+/=-]{8,}`,
    String.raw`(?<=:\/\/)[^\s/@"\\]+(?=@)`,
    String.raw`(?<=[?&](?:ticket|token|code|client_secret|secret|key|accesskey)=)[^&\s"\\]+`,
    String.raw`(?<=\bhooks\.slack\.com\/)[^\s"\\]+`,
  ].join('|'),
  'gi',
);

function mask(line: string): string {
  return redactSecrets(line.replaceAll(secretShapes, hidden));
}

// No letters and digits that look or sound alike: references are read aloud on the phone at night.
const alphabet = '23456789ABCDEFGHJKMNPQRSTVWXYZ';

/** What joins an answer to its line in the log: eight characters. */
export function makeReference(): string {
  return Array.from({ length: 8 }, () => alphabet[randomInt(alphabet.length)]).join('');
}
