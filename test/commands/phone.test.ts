import { expect, test } from 'vitest';
import { features, findCommand } from '../../src/commands/registry.ts';
import { parseWords } from '../../src/commands/words.ts';
import { createCommandHarness } from '../support/command-harness.ts';

const commands = features.flatMap((feature) => feature.commands);
const typed = commands.flatMap((command) =>
  [command.name, ...(command.aliases ?? [])].flatMap((word) => [
    word,
    ...command.examples.map((example) => example.replace(command.name, word)),
  ]),
);

/** What phones, keyboards and Slack make of the same words. */
const written: readonly [string, (plain: string) => string][] = [
  ['a capital at the beginning', (plain) => plain.charAt(0).toUpperCase() + plain.slice(1)],
  ['non-breaking spaces', (plain) => plain.replaceAll(' ', '\u00a0')],
  ['narrow spaces and one at the end', (plain) => `${plain.replaceAll(' ', '\u202f')} `],
  ['invisible characters', (plain) => `\u2068${plain}\u2069\u200b`],
  ['a line break', (plain) => plain.replace(' ', '\n')],
  ['curly quotes', (plain) => plain.replace(/ ([^ :@]+)$/u, ' “$1”')],
  ['low quotes', (plain) => plain.replace(/ ([^ :@]+)$/u, ' „$1“')],
  ['short dashes in days', (plain) => plain.replaceAll(/(?<=\d)-(?=\d)/gu, '–')],
  ['a space that autocorrection puts behind a colon', (plain) => plain.replaceAll(/(?<=[a-z]):/gu, ': ')],
  ['long dashes of options', (plain) => plain.replaceAll(/([a-z]+):(\w+)/gu, '—$1=$2')],
  ['hostnames as links', (plain) => plain.replaceAll(/([a-z]+(?:\.[a-z]+){2,})/gu, '<http://$1|$1>')],
];

test.each(written)('typed with %s, every command means the same', (_, write) => {
  for (const plain of typed) {
    const wanted = findCommand(parseWords(plain));
    const found = findCommand(parseWords(write(plain)));
    const { list, named } = wanted.words;
    expect([plain, found.command.name, found.words]).toEqual([
      plain,
      wanted.command.name,
      expect.objectContaining({ list, named }),
    ]);
  }
});

test('every example, name and alias finds its command, and help finds it too', async () => {
  await using harness = await createCommandHarness({ zones: 3 });
  const person = harness.person();
  for (const command of commands) {
    for (const words of [command.name, ...(command.aliases ?? []), ...command.examples])
      expect([words, findCommand(parseWords(words)).command.name]).toEqual([words, command.name]);
    const [answer] = await person.run(`help ${command.name}`);
    expect(JSON.stringify(answer)).toContain(`/cdn ${command.name}`);
  }
});

test("a typing error in any command's name offers that command with the words after it", async () => {
  await using harness = await createCommandHarness({ zones: 3 });
  const person = harness.person();
  const known = new Set(commands.flatMap(({ name, aliases = [] }) => [name, ...aliases]));
  for (const { name } of commands.filter((command) => command.name.length > 3)) {
    // Two letters swapped, one left out.
    for (const slip of [
      `${name.charAt(1)}${name.charAt(0)}${name.slice(2)}`,
      name.slice(0, -2) + name.slice(-1),
    ]) {
      if (known.has(slip)) continue;
      const [answer] = await person.run(`${slip} shop`);
      expect([slip, JSON.stringify(answer)]).toEqual([slip, expect.stringContaining(`"${name} shop"`)]);
    }
  }
});
