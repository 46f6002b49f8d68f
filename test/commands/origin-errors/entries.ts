import type { OriginErrorEntry } from '../../../simulator/cdn/model.ts';
import { zone } from '../../../simulator/cdn/zones.ts';
import type { Message } from '../../../src/views/blocks/blocks.ts';
import { createCommandHarness } from '../../support/command-harness.ts';

// The harness's clock: 2026-11-21 12:00 UTC.
let made = 0;
/** An entry of a log; what is left out is that of the others. */
export function entry(over: {
  id?: string;
  at?: string;
  code?: string;
  status?: number;
  server?: string;
  url?: string;
  log?: string;
}): OriginErrorEntry {
  const {
    at = '2026-11-21T09:30:00Z',
    code = 'dns_lookup',
    status = 502,
    server = 'DE',
    url = '/img/a.png',
  } = over;
  made += 1;
  return {
    logId: over.id ?? `id-${made}`,
    timestamp: Date.parse(at),
    log:
      over.log ??
      JSON.stringify({
        RequestUrl: url,
        PullZoneId: 1,
        Message: 'It failed',
        ErrorCode: code,
        StatusCode: status,
      }),
    labels: { ErrorCode: code, StatusCode: String(status), ServerZone: server },
  };
}

/** A CDN with one zone, `shop` (id 1), and these entries by day. */
export async function shop(days: Readonly<Record<string, OriginErrorEntry[]>>) {
  const harness = await createCommandHarness({ data: { zones: [zone({ Id: 1, Name: 'shop' })] } });
  harness.cdn.data.originErrors.count = 0;
  for (const [day, entries] of Object.entries(days))
    harness.cdn.data.originErrors.entries.set(`1/${day}`, entries);
  return harness;
}

/** What an answer says in sentences, without its picture and buttons. */
export function readSentences(message: Message | undefined): string {
  const { blocks = [] } = message ?? {};
  return blocks
    .flatMap((block) => (block.type === 'section' && block.text ? block.text.text : []))
    .join('\n');
}
