import { expect, test } from 'vitest';
import { zone } from '../../../simulator/cdn/zones.ts';
import { findCommand } from '../../../src/commands/registry.ts';
import { parseWords } from '../../../src/commands/words.ts';
import { createCommandHarness } from '../../support/command-harness.ts';

const host = { ...zone({ Name: 'any' }).Hostnames?.[0], Id: 1, Value: 'app.example.com' };
const zones = [
  zone({ Id: 101, Name: 'shop' }),
  zone({ Id: 102, Name: 'web-app', Hostnames: [host] as never }),
  zone({ Id: 103, Name: 'Black Friday' }),
  zone({ Id: 104, Name: 'charges' }),
  zone({ Id: 105, Name: 'Cyber Monday' }),
  zone({ Id: 106, Name: 'week 47' }),
];

const typedLines = `
app-status ← alert new app failing / alert new app down / alert me when an app is down / alert new container unhealthy
app-latency ← alert new app is slow
app-cost ← alert new app costs / alert new app too expensive
errors-rise ← alert new 5xx spike
errors-host ← alert new errors of origin host / alert new host down
errors-new-code ← alert new error code
zone-limit ← alert new bandwidth / alert new traffic limit
zone-forecast ← alert new limit will be reached
certificate-missing ← alert new ssl / alert new hostname without certificate
certificate-ending ← alert new cert expires
certificate-ending 101 ← tell me when the certificate of shop expires
settings 101 ← alert new shop config changed
scanning ← alert new malware found / alert new upload scanning failing
charges 104 ← alert new charges
errors 104 ← alert new charges failing
errors 102 ← alert new web-app failing / alert new errors web-app / alert new app.example.com failing
errors 103 ← alert new Black Friday failing
errors 103 105 ← alert new Cyber Monday and Black Friday failing
errors 101 102 ← alert new errors shop, web-app
errors 106 ← alert new errors week 47
zones workdays 09:00 ← digest new
errors 101 daily 09:00 ← daily digest of errors of shop / digest new errors shop every day
errors workdays 17:00 ← digest new errors 5pm / digest new errors at 5 pm
errors workdays 00:30 ← digest new failing 12:30 am
apps mon 18:30 ← weekly digest of containers 18:30
scanning workdays 09:00 ← digest new malware
zones 106 mon 09:00 ← digest new week 47 every monday 9am
`;

/** What the menus of a form hold when it opens. */
function readChosen(node: unknown): string[] {
  if (typeof node !== 'object' || node === null) return [];
  return Object.entries(node).flatMap(([name, value]) => {
    if (name === 'initial_time') return [String(value)];
    const chosen = /^initial_options?$/u.test(name) ? ([value].flat() as { value: string }[]) : undefined;
    return chosen?.map((one) => one.value.replace('zone:', '')) ?? readChosen(value);
  });
}

test('typed words choose the condition, the zones and the time of a new report', async () => {
  await using harness = await createCommandHarness({ data: { zones } });
  const { context } = harness.person();
  const open = async (typed: string) => {
    const { command, words } = findCommand(parseWords(typed));
    const chosen = readChosen(await command.load?.(words, context));
    return chosen.filter((value) => /^(?!always)(?:[a-z-]{3,}|10\d|\d\d:\d\d)$/u.test(value)).join(' ');
  };
  for (const line of typedLines.trim().split('\n')) {
    const [chosen = '', typed = ''] = line.split(' ← ');
    for (const one of typed.split(' / ')) expect([one, await open(one)]).toEqual([one, chosen]);
  }
});
