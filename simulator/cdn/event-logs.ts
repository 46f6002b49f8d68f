import { type Answer, type Call, jsonAnswer, parseObject, shapeB } from './answer.ts';
import { matchesQuery, readFilters } from './event-filters.ts';
import { csvHeader, csvLine, generateEventRows } from './event-rows.ts';
import type { CdnData, EventLogs } from './model.ts';

export const generateEventLogSettings = (): EventLogs => ({
  rows: 200,
  announceLength: false,
  contentType: 'text/csv',
  bindStart: false,
  windowRefusal: 400,
});

const windowMs = 72 * 3_600_000;
const accepted = /^(application\/json|text\/json|application\/[\w.+-]*\+json)\s*(;|$)/i;

const refuse = (detail: string): Answer => shapeB(400, 'Bad Request', detail);

/** Export Event Logs as CSV. Refusals are shape B (or the 401 envelope, see `windowRefusal`). */
export function exportEventLogs(call: Call, data: CdnData): Answer {
  const settings = data.eventLogs;
  const zone = data.shieldZones.find((zone) => String(zone.id) === call.params[0]);
  if (!zone) return refuse('The shield zone does not exist.');
  if (!accepted.test(call.contentType))
    return shapeB(415, 'Unsupported Media Type', 'The body must be JSON.');
  const body = parseObject(call.body);
  if (!body) return refuse('The request body is not a JSON object.');
  const from = wholeNumber(body['from']);
  const to = wholeNumber(body['to']);
  if (from === undefined || to === undefined)
    return refuse('from and to are required, in Unix milliseconds.');
  if (to <= from) return refuse('to must be after from.');
  const oldest = call.now - windowMs;
  if (to > call.now || to < oldest || (settings.bindStart && from < oldest)) {
    return outsideWindow(settings.windowRefusal);
  }
  const query = body['query'] ?? '';
  if (typeof query !== 'string') return refuse('query must be a string.');
  const filter = readFilters(body['filters']);
  if (typeof filter === 'string') return refuse(filter);

  const lines = generateEventRows(zone.id, settings.rows, from, to)
    .filter((row) => filter(row) && matchesQuery(row, query))
    .map((row) => Buffer.from(csvLine(row)));
  const { length, body: file } =
    settings.bytes === undefined ? once(lines) : repeatLines(lines, settings.bytes);
  return {
    status: 200,
    headers: {
      'content-type': settings.contentType,
      'content-disposition': `attachment; filename="event-logs-${zone.id}.csv"`,
    },
    body: file,
    ...(settings.announceLength ? { length } : {}),
  };
}

const wholeNumber = (value: unknown): number | undefined =>
  Number.isSafeInteger(value) ? Number(value) : undefined;

function outsideWindow(status: 400 | 401): Answer {
  const message = 'You can only view the past 3 days (72 hours) of Event Logs.';
  if (status === 400) return refuse(message);
  const errorKey = 'invalid_datetime_window.event_logs';
  return jsonAnswer(
    { logs: null, errorResponse: { statusCode: 401, success: false, message, errorKey } },
    401,
  );
}

interface File {
  length: number;
  body: Iterable<Uint8Array>;
}

function once(lines: Buffer[]): File {
  const whole = Buffer.concat([Buffer.from(csvHeader), ...lines]);
  return { length: whole.length, body: [whole] };
}

/** The lines again and again, cut at the last whole line that fits; without a line there is only the header. */
function repeatLines(lines: Buffer[], bytes: number): File {
  const header = Buffer.from(csvHeader);
  const round = lines.reduce((sum, line) => sum + line.length, 0);
  if (round === 0 || bytes <= header.length) return once([]);
  // A block of at least 256 kB keeps the number of writes low for any number of rows.
  const block = Buffer.concat(Array.from({ length: Math.ceil(262_144 / round) }, () => lines).flat());
  const blocks = Math.floor((bytes - header.length) / block.length);
  const left = (bytes - header.length) % block.length;
  let rest = Math.floor(left / round) * round;
  for (let index = 0; rest + (lines[index]?.length ?? left + 1) <= left; index += 1)
    rest += lines[index]?.length ?? 0;
  function* write(): Generator<Uint8Array> {
    yield header;
    for (let index = 0; index < blocks; index += 1) yield block;
    yield block.subarray(0, rest);
  }
  return { length: header.length + blocks * block.length + rest, body: { [Symbol.iterator]: write } };
}
