import type { AlertSubject } from '../../../views/reports/report.ts';
import { appCost, appLatency, appStatus, appsDigest } from './apps.ts';
import type { CheckInput, Condition, DigestKind, Observation } from './check.ts';
import { errorsDigest, hostErrors, newCodes, originErrors, risingErrors } from './errors.ts';
import { scanning, scanningDigest } from './scanning.ts';
import { settings, settingsDigest } from './settings.ts';
import {
  charges,
  endingCertificates,
  missingCertificates,
  zoneForecast,
  zoneLimit,
  zoneState,
} from './zones.ts';
import { zonesDigest } from './zones-digest.ts';

/** Every condition, in the order of the form. A new one is an object in its subject's check and a line here. */
const allConditions = [
  originErrors,
  hostErrors,
  newCodes,
  risingErrors,
  zoneState,
  zoneLimit,
  zoneForecast,
  missingCertificates,
  endingCertificates,
  settings,
  appStatus,
  appLatency,
  appCost,
  scanning,
  charges,
] as const;

/** Every kind of digest, in the order of the form and of a post. */
const allKinds = [zonesDigest, errorsDigest, scanningDigest, appsDigest, settingsDigest] as const;

export type ConditionName = (typeof allConditions)[number]['name'];
export type DigestKindName = (typeof allKinds)[number]['name'];

/** What is stored of each is read back under its own name. */
export const conditions = allConditions as unknown as readonly Condition<ConditionName, unknown>[];
export const digestKinds = allKinds as unknown as readonly DigestKind<DigestKindName, unknown, unknown>[];

export const findCondition = createFind(conditions);
export const findDigestKind = createFind(digestKinds);

export function evaluate(
  subject: Pick<AlertSubject, 'condition' | 'targets' | 'called' | 'threshold' | 'window'>,
  about: Pick<CheckInput<unknown>, 'account' | 'now' | 'lookedAt' | 'memory'>,
): Promise<Observation<unknown>> {
  return findCondition(subject.condition.name).check({ ...subject, ...about });
}

function createFind<One extends { readonly name: string }>(all: readonly One[]) {
  return (name: string): One => {
    const found = all.find((one) => one.name === name);
    if (!found) throw new Error(`unknown check: ${name}`);
    return found;
  };
}
