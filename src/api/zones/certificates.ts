import { X509Certificate } from 'node:crypto';
import { isObject } from '../http/errors.ts';

/** When the certificate of a hostname ends. */
export interface Certificate {
  readonly zoneId: string;
  readonly hostname: string;
  /** Undefined where the certificate could not be read. */
  readonly endsAt: Date | undefined;
}

/**
 * The ends of a raw zone's certificates. Those of the platform's own hostnames are its matter. Nothing else of the zone is
 * read, least of all the keys beside them, and nothing of the certificates stays.
 */
export function readCertificates(zoneId: string, raw: unknown): Certificate[] {
  if (!isObject(raw) || !Array.isArray(raw['Hostnames'])) return [];
  return raw['Hostnames'].filter(isObject).flatMap((host): Certificate[] => {
    const { Value: hostname, Certificate: certificate } = host;
    if (host['IsSystemHostname'] === true || host['IsManagedHostname'] === true) return [];
    if (typeof hostname !== 'string' || typeof certificate !== 'string' || certificate === '') return [];
    return [{ zoneId, hostname, endsAt: readEnd(certificate) }];
  });
}

/** The specification says Base64Url, and not of which form: PEM and DER are read, and PEM as it is. */
function readEnd(certificate: string): Date | undefined {
  const isPem = certificate.startsWith('-----BEGIN');
  try {
    return new X509Certificate(Buffer.from(certificate, isPem ? 'utf8' : 'base64url')).validToDate;
  } catch {
    // The error would quote it.
    return undefined;
  }
}
