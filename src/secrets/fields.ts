// The one list of names and shapes of secrets. Logs, the audit record and the CDN client use it.

export const zoneSecretFields = [
  'ZoneSecurityKey',
  'AWSSigningKey',
  'AWSSigningSecret',
  'LogForwardingToken',
] as const;

export const hostnameSecretFields = ['Certificate', 'CertificateKey'] as const;

const exactNames = new Set(
  [
    ...zoneSecretFields,
    ...hostnameSecretFields,
    ...'certificates authorization proxyAuthorization key cookie setCookie passphrase signature ticket'.split(
      ' ',
    ),
    ...'response_url response_urls trigger_id private_metadata xSlackSignature'.split(' '),
    ...'initial_value defaultValue databaseUrl connectionString'.split(' '),
  ].map(normalizeName),
);
const endings = /(?:token|secret|password|accesskey|apikey|signingkey|privatekey)$/;
// Hold what was typed; a state that is a word (approved) does not.
const containers = new Set(['state', 'values']);

export function isSecretField(name: string, value: unknown): boolean {
  if (value === undefined || value === null || typeof value === 'boolean') return false;
  if (containers.has(name)) return typeof value === 'object';
  const normalized = normalizeName(name);
  return exactNames.has(normalized) || endings.test(normalized);
}

function normalizeName(name: string): string {
  return name.replaceAll(/[-_]/g, '').toLowerCase();
}

export const secretShapes = [
  // Slack's tokens, rotated ones (xoxe.xoxb-…) included.
  String.raw`\bxox[a-z](?:\.xox[a-z])?-[\w-]+`,
  String.raw`\bxapp-[\w-]+`,
  // CDN keys: more hexadecimal groups than a UUID has (account keys have 72 characters, storage keys 41).
  String.raw`\b[0-9a-f]{8}(?:-[0-9a-f]{4,20}){5,}\b`,
];
