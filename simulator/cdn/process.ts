import { parseArgs } from 'node:util';
import { startCdn } from './server.ts';

// The simulator as a process of its own, for benchmarks: the measured program then does not share its event loop.
//   node simulator/cdn/process.ts --zones 50000 --members few --port 0
// prints one line of JSON and runs until SIGINT or SIGTERM.
const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '0' },
    'origin-logging-port': { type: 'string', default: '0' },
    zones: { type: 'string', default: '60' },
    members: { type: 'string', default: 'all' },
    'origin-errors': { type: 'string' },
    'export-bytes': { type: 'string' },
    'announce-length': { type: 'boolean', default: false },
    'delay-ms': { type: 'string' },
    gzip: { type: 'boolean', default: false },
  },
});

const cdn = await startCdn({
  port: Number(values.port),
  originLoggingPort: Number(values['origin-logging-port']),
  zones: Number(values.zones),
  zoneMembers: values.members === 'few' ? 'few' : 'all',
  gzip: values.gzip,
});
if (values['origin-errors'] !== undefined) cdn.data.originErrors.count = Number(values['origin-errors']);
if (values['export-bytes'] !== undefined) cdn.data.eventLogs.bytes = Number(values['export-bytes']);
cdn.data.eventLogs.announceLength = values['announce-length'];
if (values['delay-ms'] !== undefined)
  cdn.faults.add({ times: Infinity, delayMs: Number(values['delay-ms']) });

process.stdout.write(
  `${JSON.stringify({ url: cdn.url, originLoggingUrl: cdn.originLoggingUrl, key: cdn.key, restrictedKey: cdn.restrictedKey })}\n`,
);
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void cdn.close().then(() => process.exit(0)));
}
