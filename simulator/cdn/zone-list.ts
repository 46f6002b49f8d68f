import { type Answer, type Call, coreError, pageEnvelope, readPaging } from './answer.ts';
import { canaryMark } from './canaries.ts';
import { makeCertificate } from './certificates.ts';
import type { CdnData } from './model.ts';
import type { Hostname, PullZone } from './zone-fields.ts';

// Frozen zones (large generated worlds, see data.ts) cannot change, so their bytes may be kept: a page of 1000 costs
// about 15 ms to serialise and 1 ms to copy. A changed copy put in a zone's place is another object and misses the cache.
const kept = new WeakMap<PullZone, Buffer>();

const headers = { 'content-type': 'application/json; charset=utf-8' };
const comma = Buffer.from(',');

function withoutCertificates(zone: PullZone): PullZone {
  return { ...zone, Hostnames: zone.Hostnames?.map((host) => ({ ...host, Certificate: null })) ?? null };
}

/** A generated hostname's certificate is made when it is asked for; it ends within the next three months. */
function withCertificates(zone: PullZone, now: number): PullZone {
  const make = ({ Id, Value, Certificate }: Hostname): string | null =>
    Certificate?.startsWith(canaryMark) === true
      ? makeCertificate(Value ?? '', new Date(now + (5 + (Id % 85)) * DAY))
      : Certificate;
  return {
    ...zone,
    Hostnames: zone.Hostnames?.map((host) => ({ ...host, Certificate: make(host) })) ?? null,
  };
}

const DAY = 86_400_000;

/** `certificatesAt`: the service's time where certificates are asked for. */
function bytesOf(zone: PullZone, certificatesAt: number | undefined): Buffer {
  if (certificatesAt !== undefined)
    return Buffer.from(JSON.stringify(withCertificates(zone, certificatesAt)));
  const known = kept.get(zone);
  if (known) return known;
  const bytes = Buffer.from(JSON.stringify(withoutCertificates(zone)));
  if (Object.isFrozen(zone)) kept.set(zone, bytes);
  return bytes;
}

/** Yields a JSON text in pieces of about 64 zones, so that a list of 50 000 never exists as one string. */
function* pieces(
  before: string,
  zones: readonly PullZone[],
  certificatesAt: number | undefined,
  after: string,
): Generator<Buffer> {
  let batch: Buffer[] = [Buffer.from(before)];
  for (const [index, zone] of zones.entries()) {
    if (index > 0) batch.push(comma);
    batch.push(bytesOf(zone, certificatesAt));
    if (index % 64 === 63) {
      yield Buffer.concat(batch);
      batch = [];
    }
  }
  yield Buffer.concat([...batch, Buffer.from(after)]);
}

function flag(text: string | null): boolean | undefined {
  if (text === null || text === '') return false;
  if (/^true$/i.test(text)) return true;
  return /^false$/i.test(text) ? false : undefined;
}

/**
 * List Pull Zones. `page` absent or 0: all matching zones as a plain array. `page` above 0: the envelope.
 * `search` looks for the term in the name, ignoring case; `includeCertificate=true` fills in Certificate.
 */
export function listPullZones(call: Call, data: CdnData): Answer {
  const paging = readPaging(call.query, { page: 0 });
  if ('status' in paging) return paging;
  const certificates = flag(call.query.get('includeCertificate'));
  if (certificates === undefined) {
    return coreError(
      400,
      'validation_error',
      'includeCertificate must be true or false.',
      'includeCertificate',
    );
  }
  const term = (call.query.get('search') ?? '').toLowerCase();
  const found =
    term === '' ? data.zones : data.zones.filter((zone) => zone.Name?.toLowerCase().includes(term));
  const certificatesAt = certificates ? call.now : undefined;
  const { page, perPage } = paging;
  if (page === 0) return { status: 200, headers, body: pieces('[', found, certificatesAt, ']') };
  const items = found.slice((page - 1) * perPage, page * perPage);
  const rest = JSON.stringify(pageEnvelope(page, perPage, found.length)).slice(1);
  return { status: 200, headers, body: pieces('{"Items":[', items, certificatesAt, `],${rest}`) };
}
