import { appsDigest } from '../checks/apps.ts';
import type { DigestKind } from '../checks/digest-kind.ts';
import { errorsDigest } from '../checks/errors.ts';
import { scanningDigest } from '../checks/scanning.ts';
import { settingsDigest } from '../checks/settings.ts';
import { zonesDigest } from '../checks/zones-digest.ts';

/** Every kind of digest, in the order of the form and of a post. A new one is an object in its subject's check and a line here. */
const kinds = [zonesDigest, errorsDigest, scanningDigest, appsDigest, settingsDigest] as const;

type Kind = (typeof kinds)[number];
export type DigestKindName = Kind['name'];
export type FiguresByKind = {
  readonly [Name in DigestKindName]?: Parameters<Extract<Kind, { name: Name }>['describe']>[0] | undefined;
};

/** Figures and baseline are stored and read back under the kind's own name, so that each kind gets its own. */
export const digestKinds = kinds as unknown as readonly DigestKind<DigestKindName, unknown, unknown>[];
export const digestKindNames: readonly DigestKindName[] = kinds.map(({ name }) => name);

export function findDigestKind(name: DigestKindName): (typeof digestKinds)[number] {
  const found = digestKinds.find((kind) => kind.name === name);
  if (!found) throw new Error(`unknown kind of digest: ${name}`);
  return found;
}
