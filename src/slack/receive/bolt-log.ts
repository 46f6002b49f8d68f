import { type Logger, LogLevel } from '@slack/bolt';
import type { Log } from '../../telemetry/log.ts';

/**
 * Slack's libraries log through here. Their debug lines hold whole payloads and acknowledgements,
 * tokens and typed keys included, so they are dropped whatever LOG_LEVEL says.
 */
export function createBoltLog(log: Log): Logger {
  return {
    debug: () => undefined,
    info: (...parts) => log.debug({}, line(parts)),
    warn: (...parts) => log.warn({}, line(parts)),
    error: (...parts) => log.error({}, line(parts)),
    setLevel: () => undefined,
    getLevel: () => LogLevel.INFO,
    setName: () => undefined,
  };
}

function line(parts: unknown[]): string {
  return parts.map((part) => (part instanceof Error ? part.message : String(part))).join(' ');
}
