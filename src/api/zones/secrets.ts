import { registerSecret } from '../../secrets/secret.ts';
import { headerActions, isPlainHeader, safePatterns } from '../http/redact.ts';
import { secret } from './fields.ts';
import { pullZoneModel } from './model.ts';

type Members = Readonly<Record<string, unknown>>;

const secretMembers = Object.entries(pullZoneModel).flatMap(([name, schema]) =>
  schema === secret ? [name] : [],
);
const urlMembers = [
  'OriginUrl',
  'LogForwardingHostname',
  'OriginLinkValue',
  'OptimizerWatermarkUrl',
  'PreloadingScreenLogoUrl',
];

/**
 * Tells the work at hand of every secret in a zone as it came, so that none of them leaves with an answer that was made
 * of it, whatever the allow-list lets through. Not for lists of thousands: their rows are made without looking there.
 */
export function noteZoneSecrets(raw: unknown): void {
  if (!isMembers(raw)) return;
  for (const name of secretMembers) registerSecret(name, raw[name]);
  for (const name of urlMembers) noteUrl(raw[name]);
  for (const hostname of listIn(raw, 'Hostnames')) {
    registerSecret('Certificate', hostname['Certificate']);
    registerSecret('CertificateKey', hostname['CertificateKey']);
  }
  for (const rule of listIn(raw, 'EdgeRules')) {
    for (const action of [rule, ...listIn(rule, 'ExtraActions')]) noteAction(action);
    for (const trigger of listIn(rule, 'Triggers')) noteTrigger(trigger);
  }
}

function noteAction(action: Members): void {
  const [name, ...values] = [1, 2, 3].map((nth) => action[`ActionParameter${nth}`]);
  const type = action['ActionType'];
  if (typeof type !== 'number' || !headerActions.has(type)) {
    for (const value of [name, ...values]) noteUrl(value);
    return;
  }
  if (isPlainHeader(textIn(name).split(':', 1)[0])) return;
  // Some write `Name: value` into the name.
  for (const value of [textIn(name).replace(/^[^:]*:?\s*/u, ''), ...values.map(textIn)]) {
    registerSecret('edge-rule-header', value.replace(/^(?:bearer|basic|token)\s+/iu, ''));
  }
}

function noteTrigger(trigger: Members): void {
  const patterns = (Array.isArray(trigger['PatternMatches']) ? trigger['PatternMatches'] : []).map(textIn);
  const type = trigger['Type'];
  const safe = safePatterns(
    typeof type === 'number' ? type : undefined,
    textIn(trigger['Parameter1']),
    patterns,
  );
  // What is hidden whole is what may be a secret.
  patterns.forEach((pattern, nth) => {
    if (safe[nth] !== pattern) registerSecret('edge-rule-pattern', pattern.replaceAll(/^\*+|\*+$/gu, ''));
  });
}

function noteUrl(value: unknown): void {
  const [, login = ''] = /^(?:[a-z][a-z\d+.-]*:)?\/\/([^/?#]*)@/iu.exec(textIn(value)) ?? [];
  if (login === '') return;
  registerSecret('url-login', login);
  registerSecret('url-password', login.slice(login.indexOf(':') + 1));
}

function listIn(members: Members, name: string): Members[] {
  const list = members[name];
  return Array.isArray(list) ? list.filter(isMembers) : [];
}

function textIn(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
