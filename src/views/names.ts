import type { ModalView, Option, PlainTextOption } from '@slack/types';
import type { ChannelZone, Named, NamedKind } from '../auth/names.ts';
import { toNameKey } from '../lib/names.ts';
import { renderAnswer } from './blocks/answer.ts';
import { type Message, say } from './blocks/blocks.ts';
import { commandButton } from './blocks/buttons.ts';
import { pluralize } from './blocks/format.ts';
import { modal, option, select, textInput } from './blocks/inputs.ts';
import { renderTable } from './blocks/table.ts';
import { escapeMrkdwn, formatCode } from './blocks/text.ts';

/** What each kind is called. */
const kindNames: Readonly<Record<NamedKind, string>> = {
  app: 'app',
  script: 'script',
  shield: 'shield zone',
};

export const maxNameLength = 40;

/** `*checkout* (`app0api00000001`)`, or the id alone. In mrkdwn. */
export function renderNamedId(id: string, name: string | undefined): string {
  return name === undefined ? `*${escapeMrkdwn(id, 60)}*` : `*${escapeMrkdwn(name)}* (${formatCode(id, 60)})`;
}

/** An option of a menu for an id that is known by name or was used before. */
export function renderKnownOption({ id, name }: { id: string; name: string | undefined }): PlainTextOption {
  return name === undefined ? option(id, id, 'Looked at before') : option(`${name} · ${id}`, id);
}

/** The typed part that a menu with search matches. */
export function matchesKnown(
  { id, name = '' }: { id: string; name: string | undefined },
  typed: string,
): boolean {
  const wanted = toNameKey(typed);
  return toNameKey(id).includes(wanted) || toNameKey(name).includes(wanted);
}

/** The ids with a name first, then the others of the menu. */
export function mergeOptions(
  known: readonly PlainTextOption[],
  others: readonly (Option | PlainTextOption)[],
): (Option | PlainTextOption)[] {
  const values = new Set(known.map(({ value }) => value));
  return [...known, ...others.filter(({ value }) => !values.has(value))].slice(0, 100);
}

export function renderNameForm({
  kind,
  id,
  name,
}: {
  readonly kind?: NamedKind | undefined;
  readonly id?: string | undefined;
  readonly name?: string | undefined;
}): ModalView {
  const kinds = Object.entries(kindNames).map(([value, text]) => option(text, value));
  return modal({ callbackId: 'names:submit', title: 'Name an id', submit: 'Save' }, [
    select('kind', 'What is it?', kinds, { chosen: kind ?? 'app' }),
    textInput('id', 'Its id', { initial: id, placeholder: 'app0api00000001', focus: id === undefined }),
    textInput('name', 'Its name', {
      initial: name,
      hint: 'Everybody here sees it, and can type it in place of the id. Empty takes the name away.',
      maxLength: maxNameLength,
      optional: true,
      focus: id !== undefined,
    }),
  ]);
}

export function renderNamed({
  kind,
  id,
  name,
}: Omit<Named, 'by' | 'name'> & { name: string | undefined }): Message {
  const what = `${kindNames[kind]} ${formatCode(id, 60)}`;
  return say(
    name === undefined
      ? `The ${what} has no name any more.`
      : `The ${what} is called *${escapeMrkdwn(name)}* from now on.`,
  );
}

export function renderNames(all: readonly Named[]): Message {
  const text = all.length === 0 ? 'No id has a name yet' : `${pluralize(all.length, 'id')} with a name`;
  return renderAnswer({
    text,
    lines: `*${text}*`,
    picture: renderTable({
      caption: 'Names of ids',
      columns: ['Name', 'What', 'Id', 'Named by'],
      rows: all.map(({ kind, id, name, by }) => [name, kindNames[kind], id, { person: by }]),
    }),
    actions: [commandButton('Name an id', 'name')],
    notes: 'Names are typed in place of ids: `/cdn app checkout`',
  });
}

/** The zone of a channel. `canSet`: this person may change it. */
export function renderChannelZone(
  channel: string,
  zone: ChannelZone | undefined,
  { canSet, isChanged = false }: { readonly canSet: boolean; readonly isChanged?: boolean },
): Message {
  const here = `<#${channel}>`;
  const text = zone
    ? `${here} is about *${escapeMrkdwn(zone.name) || zone.id}*${isChanged ? ' from now on' : ''}: \`/cdn errors\` shows its errors.`
    : `${here} has no zone of its own${isChanged ? ' any more' : ''}: \`/cdn errors\` asks for one.`;
  const hint = zone ? '`/cdn here none` takes it away.' : '`/cdn here zone shop` sets it.';
  return say(isChanged || !canSet ? text : `${text} ${hint}`);
}
