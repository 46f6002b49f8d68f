import { type DigestKind, digestKinds, type Only } from '../../digests/model.ts';
import { formatInteger } from '../blocks/text.ts';

export const kindNames: Readonly<Record<DigestKind, string>> = {
  zones: 'Zones overview',
  errors: 'Origin errors',
  scanning: 'Upload scanning',
  apps: 'App usage',
};

export function kindWords(kinds: readonly DigestKind[]): string {
  return kinds
    .map((kind, index) => (index === 0 ? kindNames[kind] : kindNames[kind].toLowerCase()))
    .join(', ');
}

/** `, only above 10 origin errors`, in words of what is counted; empty for always. */
export function onlyWords(only: Only, kinds: readonly DigestKind[]): string {
  if (only === 'always') return '';
  if (only === 'changed') return 'only if something changed';
  return only.above === 0
    ? `only if there are any ${listed(kinds, 'or')}`
    : `only above ${formatInteger(only.above)} ${countedWords(kinds)}`;
}

const counted: Readonly<Record<DigestKind, string>> = {
  zones: 'zones that need attention',
  errors: 'origin errors',
  scanning: 'blocked uploads',
  apps: 'failing apps',
};

/** What “above N” counts for these kinds: `origin errors and failing apps together`. */
export function countedWords(kinds: readonly DigestKind[]): string {
  return kinds.length > 1 ? `${listed(kinds, 'and')} together` : listed(kinds, 'and');
}

function listed(kinds: readonly DigestKind[], joint: 'and' | 'or'): string {
  const words = digestKinds.filter((kind) => kinds.includes(kind)).map((kind) => counted[kind]);
  if (words.length < 2) return words[0] ?? 'troubles';
  return `${words.slice(0, -1).join(', ')} ${joint} ${words.at(-1)}`;
}
