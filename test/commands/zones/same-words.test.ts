import { describe, expect, test } from 'vitest';
import { zone } from '../../../simulator/cdn/zones.ts';
import { alice, createCommandHarness, readRows, readText } from '../../support/command-harness.ts';

const host = (Id: number, Value: string) => ({ ...zone({ Name: 'any' }).Hostnames?.[0], Id, Value });
const zones = [
  zone({ Id: 101, Name: 'wild', Hostnames: [host(1, '*.img.example.com')] as never }),
  zone({ Id: 102, Name: 'shop', Hostnames: [host(2, 'a.img.example.com')] as never }),
  zone({ Id: 103, Name: 'umlaut', Hostnames: [host(3, 'xn--mller-kva.example')] as never }),
  zone({ Id: 104, Name: 'a.img.example.com-old', Hostnames: [] }),
  zone({ Id: 201, Name: 'twin' }),
  zone({ Id: 202, Name: 'twin' }),
  zone({ Id: 301, Name: 'shop: big images' }),
  zone({ Id: 302, Name: 'my old images' }),
  zone({ Id: 303, Name: 'video:live' }),
  zone({ Id: 304, Name: 'week 47' }),
  zone({ Id: 305, Name: 'Blog Two' }),
  zone({ Id: 306, Name: 'other', Hostnames: [host(4, 'blog.example.com')] as never }),
  zone({ Id: 307, Name: 'may sale' }),
  zone({ Id: 308, Name: 'status' }),
  zone({ Id: 309, Name: 'Black Friday' }),
  zone({ Id: 310, Name: 'weekend shop' }),
  zone({ Id: 311, Name: 'studio at one' }),
  zone({ Id: 312, Name: 'friday night' }),
  zone({ Id: 313, Name: '24h' }),
  zone({ Id: 7, Name: 'seven' }),
];

async function start() {
  const harness = await createCommandHarness({ data: { zones } });
  return { harness, person: harness.person() };
}

const spellings = [
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
  ['７', 'seven'],
  ['shop: big images', 'shop: big images'],
  ['Blog Two', 'Blog Two'],
  ['may sale', 'may sale'],
  ['status', 'status'],
  ['black friday', 'Black Friday'],
  ['weekend shop', 'weekend shop'],
  ['studio at one', 'studio at one'],
];

// Two names in a row need quotes.
const quote = (typed: string): string => (typed.includes(' ') ? `"${typed}"` : typed);

/** With nothing cached, and after the whole list was read. */
describe.each(['cold', 'warm'])('%s', (state) => {
  test('one zone is the same for every command, however it is typed', async () => {
    const { harness, person } = await start();
    await using _ = harness;
    const ask = async (command: string) => {
      if (state === 'warm') await person.run('zones');
      else harness.zoneCache.forPerson(alice).expire();
      return (await person.run(command)).at(-1);
    };
    for (const [typed = '', name = ''] of spellings) {
      expect(readText(await ask(`zone ${typed}`))).toContain(`*${name}*`);
      expect(readText(await ask(`errors ${typed}`))).toMatch(new RegExp(`in \\*?${name}\\b`, 'u'));
      expect(readText(await ask(`compare ${quote(typed)} 104`))).toContain(`*${name}*`);
      expect(
        readRows(await ask(`zones ${typed}`)).map(([found = '']) => found.replace(/ \(.*$/u, '')),
      ).toContain(name);
    }
    for (const typed of [
      'shop;',
      '(shop)',
      '*shop*',
      '@shop',
      '“ｓｈｏｐ”!',
      '[shop]',
      '#shop',
      '- shop |',
      'shop’s',
    ])
      expect(readText(await ask(`zone ${typed}`))).toContain('*shop*');
    for (const typed of [
      'my old images 303',
      'my old images Black Friday',
      'studio at one shop: big images all',
      'video:live and my old images',
      '“my old images” vs video:live',
    ])
      expect(readText(await ask(`compare ${typed}`))).toMatch(/\*(?:my old|video|studio)/u);
    for (const typed of [
      'errors for shop',
      'errors of the zone shop',
      'zone in shop',
      'errors shop right now',
    ])
      expect(readText(await ask(typed))).toMatch(/\bshop\*/u);
    for (const typed of [
      'may sale',
      'Black Friday',
      'weekend shop',
      'studio at one',
      'friday night',
      'week 47',
    ])
      for (const command of [`errors ${typed} yesterday`, `errors yesterday ${typed}`, `errors ${typed} 24h`])
        expect(readText(await ask(command))).toContain(`in ${typed}*`);
    for (const typed of ['errors friday night', 'errors shop last friday', 'errors shop week 46'])
      expect(readText(await ask(typed))).not.toMatch(/in (?:friday|week|Black)/u);
    for (const typed of ['errors now', 'errors everything', 'errors with status 502', 'errors right now'])
      expect(readText(await ask(typed))).not.toContain('hostname');
    for (const typed of ['errors Black Friday right now', 'errors "friday night" now'])
      expect(readText(await ask(typed))).toMatch(/in (?:Black Friday|friday night)\*/u);
    expect(readRows(await ask('zones *.img.example.com'))).toHaveLength(3);
    await expect(ask('here zone video:live')).rejects.toThrow(/admins/u);
    for (const typed of ['47', '٤٧']) expect(readText(await ask(`zone ${typed}`))).toContain('week 47');
    await expect(ask('zone 47')).resolves.toMatchObject({ text: expect.stringContaining('No zone') });
    // Two zones with one name are offered once, with both ids.
    for (const command of ['zone twin', 'errors twin', 'changes twin', 'compare twin shop']) {
      const text = readText(await ask(command));
      expect(text).toContain('2 zones match');
      expect(text.match(/twin · 20[12]/gu)).toEqual(['twin · 201', 'twin · 202']);
    }
    await expect(ask('compare shop shop')).rejects.toThrow('That is one zone.');
    for (const typed of ['compare shop', 'compare shop ""'])
      await expect(ask(typed)).rejects.toThrowErrorMatchingInlineSnapshot(
        `[UserError: The second zone is missing.]`,
      );
  });
});

test('a word of time searches for the names that have it, and does not read every zone', async () => {
  const { harness, person } = await start();
  await using _ = harness;
  for (const [typed, found, searched] of [
    ['errors shop monday', 'shop', ['monday', 'shop']],
    ['errors Black Friday last two hours', 'Black Friday', ['friday', 'black friday']],
    ['errors shop since monday', 'shop', ['shop']],
    ['errors shop 24h', 'shop', ['shop']],
  ] as const) {
    harness.zoneCache.forPerson(alice).expire();
    const from = harness.cdn.requests.length;
    expect(readText((await person.run(typed)).at(-1))).toContain(found);
    const lists = harness.cdn.requests.slice(from).filter(({ path }) => path === '/pullzone');
    expect(lists.map(({ query }) => query['search']).slice(0, searched.length)).toEqual(searched);
  }
});

test('each zone of a typed list is offered, also one of several words', async () => {
  const { harness, person } = await start();
  await using _ = harness;
  const answer = JSON.stringify((await person.run('errors shop and Blog Two')).at(-1));
  for (const name of ['shop', 'Blog Two']) expect(answer).toContain(`"text":"${name}"`);
});
