import { type Answer, type Call, jsonAnswer, shapeB } from './answer.ts';
import { canary } from './canaries.ts';
import { createRandom, hashSeed } from './dice.ts';
import type { CdnData, OriginErrors } from './model.ts';

const DAY = 86_400_000;

const failures = [
  { code: 'dns_lookup', status: 502, message: 'Origin DNS lookup failed' },
  { code: 'http_timeout', status: 504, message: 'Origin did not answer within 60 seconds' },
  { code: 'network_socket_exception', status: 502, message: 'Connection refused by the origin' },
  { code: 'http_request_failure', status: 500, message: 'Origin request failed' },
] as const;
const servers = ['DE', 'NY', 'SG', 'JH', 'BR'] as const;
const paths = [
  '/',
  '/img/a.png',
  '/cart?token=',
  '/api/orders?page=2',
  '/video/intro.mp4',
  '/search?q=red+shoes&n="x"',
] as const;

/** Settings in which `checkout` and `shop` fail today and yesterday, most zones now and then, and many never. */
export function generateOriginErrors(): OriginErrors {
  return {
    entries: new Map(),
    count: (zone, day) => {
      if (zone.name === 'checkout') return 240;
      const dice = createRandom(hashSeed(`${zone.name} ${day}`));
      if (zone.name === 'shop') return dice.between(20, 60);
      return dice.chance(0.4) ? dice.between(1, 12) : 0;
    },
  };
}

/** Get origin error logs of one zone on one UTC day. An unknown zone or a day without errors is an empty list. */
export function originErrorLogs(call: Call, data: CdnData): Answer {
  const [zoneId = '', date = ''] = call.params;
  const parts = /^(\d{2})-(\d{2})-(\d{4})$/.exec(date);
  if (!parts) return shapeB(400, 'Bad Request', 'dateTime must have the format MM-dd-yyyy.');
  const [, month, dayOfMonth, year] = parts;
  const day = `${year}-${month}-${dayOfMonth}`;
  const more =
    data.originErrors.hasMoreData === undefined
      ? undefined
      : {
          hasMoreData: data.originErrors.hasMoreData,
          continuationToken: data.originErrors.hasMoreData ? 'next-entries' : '',
          startToken: '',
        };
  const exact = data.originErrors.entries.get(`${zoneId}/${day}`);
  if (exact) return jsonAnswer({ logs: exact, ...more });
  const tail = more ? `],${JSON.stringify(more).slice(1)}` : ']}';
  return {
    status: 200,
    headers: { 'content-type': 'application/json; charset=utf-8' },
    body: pieces(generate(zoneId, day, call.now, data), tail),
  };
}

function* pieces(entries: Iterable<string>, tail: string): Generator<Buffer> {
  let batch = '{"logs":[';
  let first = true;
  for (const entry of entries) {
    batch += first ? entry : `,${entry}`;
    first = false;
    if (batch.length > 65_536) {
      yield Buffer.from(batch);
      batch = '';
    }
  }
  yield Buffer.from(batch + tail);
}

/** Serialised entries in no particular order, since the order of the service's own is not known. */
function* generate(zoneId: string, day: string, now: number, data: CdnData): Generator<string> {
  const zone = data.zones.find((zone) => String(zone.Id) === zoneId);
  const start = Date.parse(`${day}T00:00:00Z`);
  const end = Math.min(start + DAY, now);
  // Date.parse reads 31 February as a day in March in some engines and as NaN in others: only a real day has errors.
  if (!zone || !(end > start) || new Date(start).toISOString().slice(0, 10) !== day) return;
  const { count } = data.originErrors;
  const total = typeof count === 'number' ? count : count({ id: zone.Id, name: zone.Name ?? '' }, day);
  const seed = hashSeed(`${zoneId}/${day}`);
  const dice = createRandom(seed);
  const tails = entryTails(zone.Id);
  // An id is a UUID whose last group counts and whose first group belongs to the zone and the day.
  const prefix = `{"logId":"${seed.toString(16).padStart(8, '0')}-0000-4000-8000-`;
  for (let index = 0; index < total; index += 1) {
    const at = start + Math.floor(dice.next() * (end - start));
    // Squaring makes the first failure far more common than the last, as outages are.
    const tail = tails[Math.floor(dice.next() ** 2 * tails.length)] ?? '';
    yield `${prefix}${index.toString(16).padStart(12, '0')}","timestamp":${at}${tail}`;
  }
}

/** Everything of an entry after its timestamp, for each combination: made once an answer, so 500 000 are cheap. */
function entryTails(zoneId: number): string[] {
  return failures.flatMap(({ code, status, message }) =>
    servers.flatMap((server) =>
      paths.map((path) => {
        const url = path.endsWith('token=') ? path + canary('request-url-token', zoneId) : path;
        const log = JSON.stringify({
          RequestUrl: url,
          PullZoneId: zoneId,
          Message: message,
          ErrorCode: code,
          StatusCode: status,
          // Members beyond the specification, as the service sends them; they must not reach a chat.
          ClientIp: '198.51.100.23',
          RequestHeaders: { Cookie: canary('request-cookie', zoneId) },
        });
        const labels = { ErrorCode: code, StatusCode: String(status), ServerZone: server };
        return `,"log":${JSON.stringify(log)},"labels":${JSON.stringify(labels)}}`;
      }),
    ),
  );
}
