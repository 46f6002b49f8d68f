import { canary } from '../../../simulator/cdn/canaries.ts';
import type { CdnSimulator } from '../../../simulator/cdn/server.ts';

/** Puts the mark into every secret field of every zone, into members nobody knows, and into what errors would quote. */
export function plantSecrets({ data }: CdnSimulator): void {
  for (const zone of data.zones) {
    const id = zone.Id;
    zone.ZoneSecurityKey = canary('zone-security-key', id);
    zone.AWSSigningKey = canary('aws-signing-key', id);
    zone.AWSSigningSecret = canary('aws-signing-secret', id);
    zone.LogForwardingEnabled = true;
    zone.LogForwardingToken = canary('log-forwarding-token', id);
    zone.LogForwardingHostname = `https://logs:${canary('log-password', id)}@logs.example.com`;
    zone.OriginUrl = `https://deploy:${canary('origin-password', id)}@origin.example.com/?sig=${canary('url-signature', id)}`;
    zone.OptimizerWatermarkUrl = `https://cdn.example.com/mark.png?token=${canary('url-token', id)}`;
    for (const hostname of zone.Hostnames ?? []) {
      hostname.Certificate = canary('certificate', id);
      hostname.CertificateKey = canary('certificate-key', id);
    }
    Object.assign(zone, {
      BrandNewSecret: canary('unknown-member', id),
      Nested: [{ Token: canary('unknown-member', id) }],
    });
  }
}

/** The same certificates and unknown members in an answer, whatever was asked for. No member of a free map is unknown. */
export function addCertificates(body: unknown, of = ''): unknown {
  if (Array.isArray(body)) return body.map((one) => addCertificates(one));
  if (typeof body !== 'object' || body === null) return body;
  const members = Object.entries(body).map(([name, value]) => [name, addCertificates(value, name)]);
  return {
    ...Object.fromEntries(members),
    Certificate: canary('certificate', 'sent'),
    CertificateKey: canary('certificate-key', 'sent'),
    ...(of === 'Properties' ? {} : { SomethingNew: canary('unknown-member', 'sent') }),
  };
}

/** Bodies of failures that repeat secrets, whole and cut, in every member that anybody reads. */
export function makeErrorBodies(key: string): (string | object)[] {
  const told = `The key ${key} and ${encodeURIComponent(key)} (${Buffer.from(key).toString('base64')}) are wrong.`;
  const cutInTheMiddle = `${'x'.repeat(450)} ${key}`;
  return [
    { ErrorKey: key, Field: key, Message: told },
    { Message: cutInTheMiddle },
    {
      title: told,
      detail: cutInTheMiddle.slice(0, 500),
      status: 400,
      errors: [{ field: key, message: told }],
    },
    { error: { success: false, message: told, errorKey: key }, errorKey: key },
    { errors: { [key]: [told] } },
    [{ message: told }],
    told,
    `<!doctype html><html><title>${key}</title><body>${told}</body></html>`,
    `{"Message":"${key}`,
  ];
}
