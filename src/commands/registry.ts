import { hasSecret, looksLikeKey } from '../secrets/key-in-text.ts';
import { findSecretKinds } from '../secrets/scanner.ts';
import { dropFillers, findMeaning } from './aliases.ts';
import { apps } from './apps.ts';
import { audit } from './audit.ts';
import { apiKeys, connect, refusePastedKey, tokens } from './connect.ts';
import type { Command, Feature } from './define.ts';
import { exportFeature } from './exports/feature.ts';
import { help, unknownCommand } from './help.ts';
import { homeTab } from './home.ts';
import { namesFeature } from './names.ts';
import { approvals } from './operations/approvals.ts';
import { variables } from './operations/kinds/variable.ts';
import { volumes } from './operations/kinds/volume.ts';
import { originErrors } from './origin-errors/feature.ts';
import { isTimed } from './periods.ts';
import { alert } from './reports/alerts/feature.ts';
import { digest } from './reports/digests/feature.ts';
import { doctor, settings } from './settings/feature.ts';
import { why } from './settings/why.ts';
import { refuseSharing, shareCommand, sharing, splitTarget } from './share.ts';
import { uploadScanning } from './upload-scanning.ts';
import { parseWords, type Token, toWords, type Words, withoutFirst } from './words.ts';
import { changes, compare } from './zones/changes.ts';
import { scripts } from './zones/pickers.ts';
import { zones } from './zones/zones.ts';

/** In the order of the help. A new feature is one line here. */
export const features: readonly Feature[] = [
  zones,
  changes,
  compare,
  originErrors,
  apps,
  scripts,
  uploadScanning,
  namesFeature,
  exportFeature,
  apiKeys,
  variables,
  volumes,
  approvals,
  digest,
  alert,
  connect,
  tokens,
  settings,
  audit,
  doctor,
  why,
  help,
  homeTab,
  sharing,
];

const commands = new Map<string, Command>();
for (const command of features.flatMap((feature) => feature.commands)) {
  for (const word of [command.name, ...(command.aliases ?? [])]) commands.set(word, command);
}
const owners = new Map(
  features.flatMap((feature) =>
    [...(feature.actions ?? []), ...(feature.forms ?? [])].map(({ id }) => [id, feature.commands[0]?.name]),
  ),
);

/** `Why?` explains it. */
export function findCommandOf(id: string): string | undefined {
  return commands.get(id.split(':')[0] ?? '')?.name ?? owners.get(id);
}

export const findAction = byRoute(features.flatMap(({ actions = [] }) => actions));
export const findForm = byRoute(features.flatMap(({ forms = [] }) => forms));
export const findPicker = byRoute(features.flatMap(({ pickers = [] }) => pickers));
export const findShortcut = byRoute(features.flatMap(({ shortcuts = [] }) => shortcuts));

const courtesy = /^(?:please|pls|plz|thanks|thx|asap)[.!?]*$/iu;

/** Help for an empty text, suggestions for an unknown word, and a refusal for a text with a key. */
export function findCommand(typed: Words): { readonly command: Command; readonly words: Words } {
  const last = typed.tokens.findLastIndex(({ text }) => !courtesy.test(text));
  if (last > -1 && last < typed.tokens.length - 1)
    return findCommand(toWords(typed.raw, typed.tokens.slice(0, last + 1)));
  const [first, ...others] = typed.tokens;
  const separate = first && separateCommand(first);
  if (separate !== undefined)
    return findCommand(toWords(typed.raw, [...parseWords(separate).tokens, ...others]));
  const shared = splitTarget(typed);
  const understood = understand(shared?.words ?? typed);
  const command =
    understood === 'unclear'
      ? undefined
      : commands.get((understood ?? typed).list[0]?.toLowerCase() ?? 'help');
  // After a command about the CDN a UUID may be an id.
  const takesIds =
    command !== undefined && (!['none', 'admin'].includes(command.needs) || command.ids === true);
  if ((takesIds ? hasSecret(typed.raw) : looksLikeKey(typed.raw)) || findSecretKinds(typed.raw).length > 0)
    return { command: refusePastedKey, words: parseWords('') };
  if (!command || understood === 'unclear') return { command: unknownCommand, words: typed };
  if (!shared) return { command, words: withoutFirst(understood ?? typed) };
  // An export may go to a place itself.
  const whole = understand(typed);
  if (!command.shares)
    return { command, words: withoutFirst(whole === 'unclear' ? typed : (whole ?? typed)) };
  const sharing = command.shares === 'never' ? refuseSharing(command) : shareCommand(command, shared.target);
  return { command: sharing, words: withoutFirst(understood ?? shared.words) };
}

/** The words of `urgent: shop down`, `todo: errors shop` and `errors|shop`, whose first word holds more than a command. */
function separateCommand({ name, value, text, typed, quoted }: Token): string | undefined {
  const isLabel = commands.has(value.toLowerCase()) && !commands.has(name ?? '');
  if (name !== undefined && /^[a-z]+: /iu.test(text)) return isLabel ? value : typed.replace(':', '');
  const [, command = '', behind] = /^([a-z-]+?)(?:--|[^\w\s.:"'-])+(.*)$/isu.exec(text) ?? [];
  return commands.has(command.toLowerCase()) && !quoted ? `${command} ${behind}` : undefined;
}

/** Undefined where the first word is the command, or no word is known. */
function understand(words: Words): Words | 'unclear' | undefined {
  const meaning = findMeaning(words, (word) => commands.has(word));
  const kept = dropFillers(words);
  if (!meaning && !commands.has(words.list[0]?.toLowerCase() ?? 'help') && isTimed(kept))
    return toWords(words.raw, [...parseWords('errors').tokens, ...kept.tokens]);
  const [only, ...others] = meaning?.commands ?? [];
  return meaning && (meaning.note !== undefined || others.length > 0) ? 'unclear' : only;
}

/** By id, also as `feature:verb:anything`, or by a field. */
function byRoute<Entry extends { readonly id: string; readonly fields?: readonly string[] }>(
  entries: readonly Entry[],
): (id: string) => Entry | undefined {
  const routes = new Map(
    entries.flatMap((entry) => [entry.id, ...(entry.fields ?? [])].map((id) => [id, entry])),
  );
  return (id) => routes.get(id.split(':', 2).join(':'));
}
