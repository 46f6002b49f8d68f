import { describe, expect, test } from 'vitest';
import { zone } from '../../../simulator/cdn/zones.ts';
import { createCommandHarness, readRows, readText } from '../../support/command-harness.ts';

const host = (Id: number, Value: string) => ({ ...zone({ Name: 'any' }).Hostnames?.[0], Id, Value });
const zones = [
  zone({ Id: 101, Name: 'wild', Hostnames: [host(1, '*.img.example.com')] as never }),
  zone({ Id: 102, Name: 'shop', Hostnames: [host(2, 'a.img.example.com')] as never }),
  zone({ Id: 103, Name: 'umlaut', Hostnames: [host(3, 'xn--mller-kva.example')] as never }),
  zone({ Id: 104, Name: 'a.img.example.com-old', Hostnames: [] }),
  zone({ Id: 201, Name: 'twin' }),
  zone({ Id: 202, Name: 'twin' }),
  zone({ Id: 301, Name: 'shop: big images' }),
];

async function start() {
  const harness = await createCommandHarness({ data: { zones } });
  return { harness, person: harness.person() };
}

// Two names in a row need quotes.
const quote = (typed: string): string => (typed.includes(' ') ? `"${typed}"` : typed);

/** With nothing cached, and after the whole list was read. */
describe.each(['cold', 'warm'])('%s', (state) => {
  test.each([
    ['shop', 'shop'],
    ['SHOP', 'shop'],
    ['102', 'shop'],
    ['#102', 'shop'],
    ['a.img.example.com', 'shop'],
    ['A.img.example.com.', 'shop'],
    ['https://a.img.example.com/x.jpg?y=1', 'shop'],
    ['b.img.example.com', 'wild'],
    ['müller.example', 'umlaut'],
    ['müller.example,', 'umlaut'],
    ['shop: big images', 'shop: big images'],
  ])('%s is the same zone for every command', async (typed, name) => {
    const { harness, person } = await start();
    await using _ = harness;
    if (state === 'warm') await person.run('zones');
    const ask = async (command: string) => readText((await person.run(command)).at(-1));
    expect(await ask(`zone ${typed}`)).toContain(`*${name}*`);
    expect(await ask(`errors ${typed}`)).toMatch(new RegExp(`in \\*?${name}\\b`, 'u'));
    expect(await ask(`compare ${quote(typed)} 104`)).toContain(`*${name}*`);
    const [list] = (await person.run(`zones ${typed}`)).slice(-1);
    expect(readRows(list).map(([found]) => found)).toContain(name);
  });

  test.each(['errors for shop', 'errors of the zone shop', 'zone in shop'])(
    '%s means the zone behind it',
    async (typed) => {
      const { harness, person } = await start();
      await using _ = harness;
      if (state === 'warm') await person.run('zones');
      expect(readText((await person.run(typed)).at(-1))).toMatch(/\bshop\*/u);
    },
  );

  test('two zones with one name are offered once, with both ids', async () => {
    const { harness, person } = await start();
    await using _ = harness;
    if (state === 'warm') await person.run('zones');
    for (const command of ['zone twin', 'errors twin', 'changes twin', 'compare twin shop']) {
      const text = readText((await person.run(command)).at(-1));
      expect(text).toContain('2 zones match');
      expect(text.match(/\*twin\* · 20[12]/gu)).toEqual(['*twin* · 201', '*twin* · 202']);
    }
  });

  test('a zone compared with itself gets a sentence', async () => {
    const { harness, person } = await start();
    await using _ = harness;
    if (state === 'warm') await person.run('zones');
    await expect(person.run('compare shop shop')).rejects.toThrow('That is one zone.');
  });
});
