import { errorsDigest } from '../../checks/errors-digest.ts';
import { apps } from './apps.ts';
import type { DigestKind } from './kind.ts';
import { settings } from './settings.ts';
import { uploadScanning } from './upload-scanning.ts';
import { zones } from './zones.ts';

/** Every kind of digest, in the order of the form and of a post. A new one is a file beside this one and a line here. */
const kinds = [zones, errorsDigest, uploadScanning, apps, settings] as const;

type Kind = (typeof kinds)[number];
export type DigestKindName = Kind['name'];
/** A run's findings, by kind. */
export type FiguresByKind = {
  readonly [Name in DigestKindName]?:
    | Parameters<Extract<Kind, { name: Name }>['countTroubles']>[0]
    | undefined;
};

/** Figures and baseline are stored and read back under the kind's own name, so that each kind gets its own. */
export const digestKinds = kinds as unknown as readonly DigestKind<DigestKindName, unknown, unknown>[];
export const digestKindNames: readonly DigestKindName[] = kinds.map(({ name }) => name);

export function findDigestKind(name: DigestKindName): (typeof digestKinds)[number] {
  const found = digestKinds.find((kind) => kind.name === name);
  if (!found) throw new Error(`unknown kind of digest: ${name}`);
  return found;
}
