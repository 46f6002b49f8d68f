import { hostnameSecretFields, zoneSecretFields } from '../../secrets/fields.ts';
import { registerSecret } from '../../secrets/secret.ts';
import { headerActions, isPlainHeader, redactPatterns } from '../http/redact.ts';

type Members = Readonly<Record<string, unknown>>;

const urlMembers = [
  'OriginUrl',
  'LogForwardingHostname',
  'OriginLinkValue',
  'OptimizerWatermarkUrl',
  'PreloadingScreenLogoUrl',
];

/**
 * Registers every secret of a raw zone with the running work, so that none of them leaves with an answer, whatever the
 * allow-list lets through. Not for lists of thousands: their rows are projected without reading secrets.
 */
export function registerZoneSecrets(raw: unknown): void {
  if (!isMembers(raw)) return;
  for (const name of zoneSecretFields) registerSecret(name, raw[name]);
  for (const name of urlMembers) registerUrlSecrets(raw[name]);
  for (const hostname of readObjects(raw, 'Hostnames')) {
    for (const name of hostnameSecretFields) registerSecret(name, hostname[name]);
  }
  for (const rule of readObjects(raw, 'EdgeRules')) {
    for (const action of [rule, ...readObjects(rule, 'ExtraActions')]) registerActionSecrets(action);
    for (const trigger of readObjects(rule, 'Triggers')) registerTriggerSecrets(trigger);
  }
}

function registerActionSecrets(action: Members): void {
  const [name, ...values] = [1, 2, 3].map((nth) => action[`ActionParameter${nth}`]);
  const type = action['ActionType'];
  if (typeof type !== 'number' || !headerActions.has(type)) {
    for (const value of [name, ...values]) registerUrlSecrets(value);
    return;
  }
  if (isPlainHeader(readText(name).split(':', 1)[0])) return;
  // People also write `Name: value` into the name.
  for (const value of [readText(name).replace(/^[^:]*:?\s*/u, ''), ...values.map(readText)]) {
    registerSecret('edge-rule-header', value.replace(/^(?:bearer|basic|token)\s+/iu, ''));
  }
}

function registerTriggerSecrets(trigger: Members): void {
  const patterns = (Array.isArray(trigger['PatternMatches']) ? trigger['PatternMatches'] : []).map(readText);
  const type = trigger['Type'];
  const safe = redactPatterns(
    typeof type === 'number' ? type : undefined,
    readText(trigger['Parameter1']),
    patterns,
  );
  // Patterns that are hidden may be secrets.
  patterns.forEach((pattern, nth) => {
    if (safe[nth] !== pattern) registerSecret('edge-rule-pattern', pattern.replaceAll(/^\*+|\*+$/gu, ''));
  });
}

function registerUrlSecrets(value: unknown): void {
  const [, login = ''] = /^(?:[a-z][a-z\d+.-]*:)?\/\/([^/?#]*)@/iu.exec(readText(value)) ?? [];
  if (login === '') return;
  registerSecret('url-login', login);
  registerSecret('url-password', login.slice(login.indexOf(':') + 1));
}

function readObjects(members: Members, name: string): Members[] {
  const list = members[name];
  return Array.isArray(list) ? list.filter(isMembers) : [];
}

function readText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
