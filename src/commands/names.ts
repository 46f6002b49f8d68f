import { z } from 'zod';
import { tenantId } from '../auth/identity.ts';
import { type NamedKind, namedKinds } from '../auth/names.ts';
import { UserError } from '../errors.ts';
import { hasSecret } from '../secrets/key-in-text.ts';
import type { Message } from '../views/blocks/blocks.ts';
import { formatCode } from '../views/blocks/text.ts';
import * as views from '../views/names.ts';
import { type Command, type Context, defineForm, type Feature, type Picker, type With } from './define.ts';
import type { Words } from './words.ts';

const nameCommand: Command<'names'> = {
  name: 'name',
  aliases: ['names', 'rename'],
  usage: 'name [<app|script|shield> <id> <name>] | name list',
  summary:
    'Names for ids: of apps, scripts and shield zones, which everybody here can type in place of the id',
  label: 'Name an id',
  examples: ['name app app0api00000001 checkout', 'name list'],
  needs: 'read',
  modal: ({ list }) => {
    const [kind, id, ...name] = list;
    return name.length > 0 || isList(list) ? undefined : views.renderNameForm({ kind: readKind(kind), id });
  },
  async run({ list }, context) {
    if (isList(list)) return views.renderNames(await context.names.list(tenantId(context.person)));
    const [typedKind, id = '', ...words] = list;
    const kind = readKind(typedKind);
    if (!kind)
      throw new UserError(
        `${formatCode(typedKind ?? '', 30)} is nothing that can be named.`,
        'Type `app`, `script` or `shield`, then the id and the name.',
      );
    const { data, error } = fields.safeParse({ kind, id, name: words.join(' ') });
    if (!data)
      throw new UserError(error.issues[0]?.message ?? 'This is no name.', 'Type `/cdn name` for a form.');
    return giveName(data, context);
  },
};

function isList([first = '', ...others]: readonly string[]): boolean {
  return first.toLowerCase() === 'list' && others.length === 0;
}

function readKind(typed = ''): NamedKind | undefined {
  const word = typed.toLowerCase().replace(/s$/u, '');
  return namedKinds.find((kind) => kind === word);
}

const fields = z
  .object({
    kind: z.enum(namedKinds, { error: 'Pick what it is.' }),
    id: z
      .string({ error: 'Type its id.' })
      .trim()
      .regex(/^[^\s/\\]{1,75}$/u, { error: 'An id has no spaces or slashes in it.' })
      .refine((id) => !hasSecret(id), { error: 'That looks like a key. A name is given to an id.' }),
    name: z
      .string()
      .trim()
      .max(views.maxNameLength, { error: `A name has at most ${views.maxNameLength} characters.` })
      .refine((name) => !/^\d+$/u.test(name), {
        error: 'A name is not a number: it could be taken for an id.',
      })
      .refine((name) => !/\p{Cc}/u.test(name), { error: 'A name is one line.' })
      .refine((name) => !hasSecret(name), { error: 'That looks like a key. Everybody here would see it.' })
      .optional(),
  })
  .refine(({ kind, id }) => kind === 'app' || /^\d{1,19}$/u.test(id), {
    path: ['id'],
    error: 'This id is a whole number, such as 501.',
  });

async function giveName(
  { kind, id, name }: z.output<typeof fields>,
  { names, person }: Context & With<'names'>,
): Promise<Message> {
  const given = { kind, id, name: name || undefined };
  const outcome = await names.give(person, given);
  if (outcome === 'done') return views.renderNamed(given);
  if (outcome === 'full')
    throw new UserError('There are too many names here.', 'Take one away first: `/cdn name list`.');
  throw new UserError(
    `${formatCode(outcome.taken, 60)} has this name already.`,
    'Take another name, or take it away there: `/cdn name`.',
  );
}

export const namesFeature: Feature<'names'> = {
  name: 'names',
  commands: [nameCommand],
  forms: [defineForm({ id: 'names:submit', needs: 'read', fields, run: giveName })],
};

/** The same menu with the ids that have a name or were used before on top: those that no zone names are there, too. */
export function withKnownIds<Needs extends 'names' | 'zoneCache'>(
  kind: NamedKind,
  picker: Picker<Needs>,
): Picker<Needs | 'names'> {
  return {
    ...picker,
    async run(typed, context) {
      const [known, options] = await Promise.all([
        context.names.known(context.person, kind),
        picker.run(typed, context),
      ]);
      const hits = known.filter((one) => views.matchesKnown(one, typed)).map(views.renderKnownOption);
      return views.mergeOptions(hits, options);
    },
  };
}

/** The id that was typed, by itself or by its name: the words after it are of the command. */
export function resolveId(
  kind: NamedKind,
  { list }: Words,
  { names, person }: With<'names'>,
): Promise<string> {
  return names.resolve(person, kind, list.join(' ').replace(/^#(?=\d+$)/u, ''));
}

/** Remembers an id for the menus. The answer does not depend on it. */
export async function rememberUse(kind: NamedKind, id: string, context: With<'names'>): Promise<void> {
  try {
    await context.names.use(context.person, kind, id);
  } catch (error) {
    context.explain(error);
  }
}
