import { z } from 'zod';
import { ApiError } from '../api/http/errors.ts';
import { tenantId } from '../auth/identity.ts';
import { type NamedKind, namedKinds } from '../auth/names.ts';
import { UserError } from '../errors.ts';
import { cleanName, looksLikeId, mixesAlphabets, toLook, toNameKey, trimZeros } from '../lib/names.ts';
import { hasSecret } from '../secrets/key-in-text.ts';
import type { Message } from '../views/blocks/blocks.ts';
import { formatCount } from '../views/blocks/format.ts';
import { formatCode } from '../views/blocks/text.ts';
import * as views from '../views/names.ts';
import { type Command, type Context, defineForm, type Feature, type Picker } from './define.ts';
import { assertAdminFor } from './operations/propose.ts';
import type { Words } from './words.ts';
import { hasHostname, readHost } from './zones/hosts.ts';
import { loadAllZones } from './zones/lookup.ts';

const nameCommand: Command = {
  name: 'name',
  aliases: ['names', 'rename'],
  usage: 'name [<app|script|shield> <id> <name>|none] | name list',
  summary: 'Names for the IDs of apps, scripts and shield zones, which everybody here can type instead',
  label: 'Give an ID a name',
  examples: ['name app app0api00000001 checkout', 'name list'],
  needs: 'read',
  modal: ({ list }) => {
    const [kind, id, ...name] = list;
    return name.length > 0 || isList(list) ? undefined : views.renderNameForm(readKind(kind), id);
  },
  async run({ list, quoted = [] }, context) {
    if (isList(list))
      return views.renderNames(await context.names.list(tenantId(context.person)), Number(list[1] ?? 1));
    const [typedKind, id = '', ...words] = list;
    // A name that reads so is typed in quotes.
    const isRemoval = words.length === 1 && /^none$/iu.test(words[0] ?? '') && !quoted[2];
    return giveName({ kind: readKind(typedKind), id, name: isRemoval ? '' : words.join(' ') }, context);
  },
};

function isList([first = '', page = '1', ...others]: readonly string[]): boolean {
  return first.toLowerCase() === 'list' && /^\d+$/u.test(page) && others.length === 0;
}

function readKind(typed = ''): NamedKind | undefined {
  const word = typed.toLowerCase().replace(/s$/u, '');
  return namedKinds.find((kind) => kind === word);
}

const fields = z
  .object({
    kind: z.enum(namedKinds, { error: 'Type `app`, `script` or `shield`, then the ID and the name.' }),
    id: z
      .string({ error: 'Type its ID.' })
      .trim()
      .regex(/^[^\s/\\]{1,75}$/u, { error: 'An ID has no spaces or slashes.' })
      .refine((id) => id === cleanName(id), {
        error: 'This ID has invisible characters. Type it again.',
      })
      .refine((id) => !hasSecret(id), { error: 'That looks like a key. Give a name to an ID.' }),
    name: z
      .string()
      .refine((name) => name.trim() === '' || cleanName(name) !== '', {
        error: 'A name needs visible characters.',
      })
      .transform(cleanName)
      .refine((name) => name.length <= views.maxNameLength, {
        error: `A name has at most ${formatCount(views.maxNameLength, 'character')}.`,
      })
      .refine((name) => !looksLikeId(name), {
        error: 'This name looks like an ID. Add a word, so that nobody takes it for one.',
      })
      .refine((name) => !mixesAlphabets(name), {
        error: 'Use one alphabet for each word: some letters look the same in two alphabets.',
      })
      .refine((name) => !hasSecret(name), { error: 'That looks like a key. Everybody here would see it.' })
      .optional(),
  })
  .refine(({ kind, id }) => kind === 'app' || /^\d{1,19}$/u.test(id), {
    path: ['id'],
    error: 'This ID is a whole number, such as 501.',
  })
  .transform((given) => (given.kind === 'app' ? given : { ...given, id: trimZeros(given.id) }));

async function giveName(typed: object, context: Context, was?: string | null): Promise<Message> {
  const { data, error } = fields.safeParse(typed);
  if (!data)
    throw new UserError(error.issues[0]?.message ?? 'I can’t use this name.', 'Type `/cdn name` for a form.');
  const { kind, id } = data;
  const { names, person } = context;
  const given = { kind, id, name: data.name || undefined, was };
  const before = await names.find(person, kind, id);
  const refusal =
    given.name === undefined ? undefined : await findConflict(given.name, { kind, id }, context);
  if (refusal !== undefined) throw new UserError(refusal, 'Choose another name.');
  let outcome = await names.give(person, given);
  if (typeof outcome === 'object' && 'givenBy' in outcome) {
    const what = `only <@${outcome.givenBy}>, who named this ID, and admins can change the name.`;
    await assertAdminFor(what, '', context);
    outcome = await names.give(person, { ...given, asAdmin: true });
  }
  if (outcome === 'done')
    return views.renderNamed(given, was === undefined ? { before: before?.name } : undefined);
  const refusals = {
    changed: ['Somebody changed this name since, so nothing was undone.', '`/cdn name list` shows all.'],
    full: ['This workspace has too many names.', 'Remove one first: `/cdn name list`.'],
    isId: ['This name is an ID that is used here.', 'Choose another name.'],
    isName: [`${formatCode(id, 60)} is a name here.`, 'Type the ID it stands for.'],
  } as const;
  if (typeof outcome === 'string') {
    const [message, hint] = refusals[outcome];
    throw new UserError(message, hint);
  }
  const owner = 'taken' in outcome ? formatCode(outcome.taken, 60) : 'Another ID';
  const hint = 'Choose another name, or remove that one: `/cdn name`.';
  throw new UserError(`${owner} already has this name.`, hint);
}

export const namesFeature: Feature = {
  name: 'names',
  commands: [nameCommand],
  actions: [
    {
      id: 'names:undo',
      needs: 'read',
      run(value, context) {
        const { was, ...before } = JSON.parse(value) as { readonly was?: string | null };
        return giveName(before, context, was);
      },
    },
  ],
  forms: [
    defineForm({
      id: 'names:submit',
      needs: 'read',
      fields,
      again: () => ['help:run', 'name'],
      run: (given: z.output<typeof fields>, context) => giveName(given, context),
    }),
  ],
};

/** With named or used ids on top: no zone may name them. */
export function withKnownIds(kind: NamedKind, picker: Picker): Picker {
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

/** The words after it belong to the command. */
export function resolveId(kind: NamedKind, { list }: Words, { names, person }: Context): Promise<string> {
  return names.resolve(person, kind, list.join(' ').replace(/^#(?=\d+$)/u, ''));
}

/** The id that the first words name, `checkout v2` of `checkout v2 12`, and the others. @throws UserError where two names fit */
export async function resolveFirst(
  kind: NamedKind,
  words: readonly string[],
  { names, person }: Context,
  isQuoted = false,
): Promise<{ readonly id: string; readonly others: readonly string[] }> {
  const first = { name: words[0] ?? '', id: words[0] ?? '', others: words.slice(1) };
  if (looksLikeId(first.name)) return { ...first, id: await names.resolve(person, kind, first.name) };
  const readings = words.slice(0, isQuoted ? 1 : mostNameWords).map(async (_, nth) => {
    const name = words.slice(0, nth + 1).join(' ');
    return { name, id: await names.resolve(person, kind, name), others: words.slice(nth + 1) };
  });
  const found = (await Promise.all(readings)).filter(({ name, id }) => id !== name);
  const [one = first] = found;
  const other = found.find(({ id }) => id !== one.id);
  if (other === undefined) return one;
  const both = [one, other].map(({ name, id }) => `${formatCode(name, 60)} (${formatCode(id, 60)})`);
  throw new UserError(`This can mean ${both.join(' or ')}.`, 'Put the name in quotes, or type the ID.');
}

const mostNameWords = 6;

/** A name counts only if the CDN knows no app with that ID. */
export async function resolveAppToDelete(typed: string, context: Context): Promise<string> {
  const id = await context.names.resolve(context.person, 'app', typed);
  return id === typed || !(await isAppId(typed, context)) ? id : typed;
}

/** Why people could take this name for another ID: it is an app’s ID, or the name of a zone that uses another one. */
async function findConflict(
  name: string,
  { kind, id }: { readonly kind: NamedKind; readonly id: string },
  context: Context,
): Promise<string | undefined> {
  if (kind === 'shield') return undefined;
  const key = toNameKey(name);
  const { zones } = await loadAllZones(context);
  for (const zone of zones) {
    const uses = kind === 'app' ? [zone.appId] : [zone.edgeScriptId, zone.middlewareScriptId];
    const other = uses.includes(id) ? undefined : uses.find((one) => one !== undefined);
    const isMeant = toLook(zone.name) === toLook(name) || hasHostname(zone, readHost(name));
    if (other !== undefined && isMeant) return `A zone of this name uses ${formatCode(other, 60)}.`;
    if (kind === 'app' && zone.appId !== undefined && toNameKey(zone.appId) === key)
      return `${formatCode(zone.appId, 60)} is the ID of an app.`;
  }
  // An ID in another case, or with another dash, is a slip away from this one.
  for (const form of kind === 'app' ? new Set([name, key]) : [])
    if (await isAppId(form, context)) return `${formatCode(form, 60)} is the ID of an app.`;
  return undefined;
}

/** @throws where the CDN does not say */
async function isAppId(typed: string, context: Context): Promise<boolean> {
  if (!/^[^\s/\\]+$/u.test(typed)) return false;
  const { apps } = await context.cdn();
  try {
    await apps.summary(typed);
    return true;
  } catch (error) {
    // A UserError says that no ID is written like this.
    if (error instanceof UserError) return false;
    if (error instanceof ApiError && ['not_found', 'refused'].includes(error.code)) return false;
    throw error;
  }
}

/** For the menus; the answer does not depend on it. */
export async function rememberUse(kind: NamedKind, id: string, context: Context): Promise<void> {
  try {
    await context.names.use(context.person, kind, id);
  } catch (error) {
    context.explain(error);
  }
}
