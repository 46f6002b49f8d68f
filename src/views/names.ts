import type { ModalView, Option, PlainTextOption } from '@slack/types';
import type { ChannelZone, Named, NamedKind } from '../auth/names.ts';
import { toNameKey } from '../lib/names.ts';
import { actions, context, type Message, message, say, section } from './blocks/blocks.ts';
import { button, commandButton, replacingButton, selectOf } from './blocks/buttons.ts';
import { pluralize } from './blocks/format.ts';
import { modal, option, select, textInput } from './blocks/inputs.ts';
import { renderPage } from './blocks/table.ts';
import { escapeMrkdwn, formatCode } from './blocks/text.ts';

const kindNames: Readonly<Record<NamedKind, string>> = {
  app: 'app',
  script: 'script',
  shield: 'shield zone',
};

export const maxNameLength = 40;

export function renderNamedId(id: string, name: string | undefined): string {
  return name === undefined ? `*${escapeMrkdwn(id, 60)}*` : `*${escapeMrkdwn(name)}* (${formatCode(id, 60)})`;
}

type KnownId = { readonly id: string; readonly name: string | undefined };

export function renderKnownOption({ id, name }: KnownId): PlainTextOption {
  return name === undefined ? option(id, id, 'Used before') : option(`${name} · ${id}`, id);
}

export function matchesKnown({ id, name = '' }: KnownId, typed: string): boolean {
  const wanted = toNameKey(typed);
  return toNameKey(id).includes(wanted) || toNameKey(name).includes(wanted);
}

export function mergeOptions(
  known: readonly PlainTextOption[],
  others: readonly (Option | PlainTextOption)[],
): (Option | PlainTextOption)[] {
  const values = new Set(known.map(({ value }) => value));
  return [...known, ...others.filter(({ value }) => !values.has(value))].slice(0, 100);
}

export function renderNameForm(kind: NamedKind | undefined, id: string | undefined): ModalView {
  const kinds = Object.entries(kindNames).map(([value, text]) => option(text, value));
  return modal({ callbackId: 'names:submit', title: 'Give an ID a name', submit: 'Save' }, [
    select('kind', 'Type', kinds, { chosen: kind ?? 'app' }),
    textInput('id', 'ID', { initial: id, placeholder: 'app0api00000001', focus: id === undefined }),
    textInput('name', 'Name', {
      hint: 'Everybody here sees it and can type it instead of the ID. Leave it empty to remove the name. You can undo it.',
      maxLength: maxNameLength,
      optional: true,
      focus: id !== undefined,
    }),
  ]);
}

type NameOf = Pick<Named, 'kind' | 'id'> & { readonly name: string | undefined };

/** `before`: the name that the undo gives back; absent where this was one. */
export function renderNamed(
  { kind, id, name }: NameOf,
  undo?: { readonly before: string | undefined },
): Message {
  const what = `${kindNames[kind]} ${formatCode(id, 60)}`;
  if (name === undefined && !undo) return say(`Removed the name of ${what} again.`);
  if (!undo) return say(`Restored the previous name of ${what}: *${escapeMrkdwn(name ?? '')}*.`);
  const value = JSON.stringify({ kind, id, name: undo.before, was: name ?? null });
  return say(
    name === undefined
      ? `Removed the name of ${what}.`
      : `Named ${what} *${escapeMrkdwn(name)}*. Everybody here can type it instead of the ID.`,
    undo.before !== name && actions(button('Undo', 'names:undo', value)),
  );
}

export function renderNames(all: readonly Named[], page?: number): Message {
  const text = all.length === 0 ? 'No names yet' : pluralize(all.length, 'name');
  const lines = all.map(
    ({ kind, id, name, by }) =>
      `*${escapeMrkdwn(name)}* · ${kindNames[kind]} ${formatCode(id, 60)} · <@${by}>`,
  );
  const { picture, pages, chosen } = renderPage(lines, {
    page,
    turn: (label, nth) => replacingButton(label, `name list ${nth}`),
  });
  return message(text, [
    section(`*${text}*`),
    ...picture,
    actions(commandButton('Give an ID a name', 'name'), selectOf(chosen, pages, { chosen })),
    context('Type a name in place of its ID: `/cdn app checkout`'),
  ]);
}

/** `undo`: the words that set it back, where it was just changed; empty where this was the undo. */
export function renderChannelZone(
  channel: string,
  zone: ChannelZone | undefined,
  { canSet, undo }: { readonly canSet: boolean; readonly undo?: string },
): Message {
  const here = `<#${channel}>`;
  const isChanged = undo !== undefined;
  const restored = undo === '' ? 'Restored: ' : '';
  const text = zone
    ? `\`/cdn errors\` in ${here} ${isChanged ? 'now shows' : 'shows'} *${escapeMrkdwn(zone.name) || zone.id}*.`
    : `\`/cdn errors\` in ${here} ${isChanged ? 'now shows' : 'shows'} every zone.`;
  const hint = zone ? '`/cdn here none` removes it.' : '`/cdn here zone shop` sets it.';
  if (isChanged) return say(`${restored}${text}`, actions(restored === '' && replacingButton('Undo', undo)));
  return say(canSet ? `${text} ${hint}` : text);
}
