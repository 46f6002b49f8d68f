import { expect, test } from 'vitest';
import { makeCertificate } from '../../../simulator/cdn/certificates.ts';
import { findKnownSecrets, withSecrets } from '../../../src/secrets/secret.ts';
import { makePage, startStubCdn } from '../stub-cdn.ts';

const endsAt = new Date('2026-12-01T08:30:00Z');
const certificate = makeCertificate('shop.example.com', endsAt);
const pem = Buffer.from(certificate, 'base64url').toString();
const der = Buffer.from(pem.replaceAll(/-----.*-----/gu, ''), 'base64');

const zoneWith = (id: number, hostnames: object[]) => ({
  Id: id,
  Name: 'CANARY-name',
  Hostnames: hostnames.map((host) => ({ CertificateKey: 'CANARY-key', ...host })),
});

test('the ends of certificates are read in every form, and nothing else of them', async () => {
  const cdn = await startStubCdn(() =>
    makePage([
      zoneWith(1, [
        { Value: 'shop.cdn.example.net', IsSystemHostname: true, Certificate: certificate },
        { Value: 'url.example.com', Certificate: certificate },
        { Value: 'pem.example.com', Certificate: pem },
        { Value: 'der.example.com', Certificate: der.toString('base64') },
        { Value: 'chain.example.com', Certificate: Buffer.from(pem + pem).toString('base64url') },
        { Value: 'none.example.com', Certificate: null },
        { Value: 'undated.example.com', HasCertificate: true },
        { Value: 'broken.example.com', Certificate: 'CANARY-certificate' },
      ]),
      zoneWith(2, []),
    ]),
  );
  const found = await withSecrets(async () => {
    const certificates = await cdn.client().pullZones.certificates();
    // What is dropped unread is not held to be searched for, either.
    expect(
      findKnownSecrets()
        .lists.flat()
        .map(({ kind }) => kind),
    ).not.toContain('CertificateKey');
    return certificates;
  });
  expect(found).toEqual([
    { zoneId: '1', hostname: 'url.example.com', endsAt },
    { zoneId: '1', hostname: 'pem.example.com', endsAt },
    { zoneId: '1', hostname: 'der.example.com', endsAt },
    { zoneId: '1', hostname: 'chain.example.com', endsAt },
    { zoneId: '1', hostname: 'undated.example.com', endsAt: undefined },
    { zoneId: '1', hostname: 'broken.example.com', endsAt: undefined },
  ]);
  expect(cdn.requests.map(({ query }) => query['includeCertificate'])).toEqual(['true']);
});
