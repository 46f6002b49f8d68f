import { appCost, appLatency, appStatus } from '../../checks/apps.ts';
import { endingCertificates } from '../../checks/certificates.ts';
import { hostErrors, newCodes, originErrors, risingErrors } from '../../checks/errors.ts';
import { scanning } from '../../checks/scanning.ts';
import { settings } from '../../checks/settings.ts';
import { charges, missingCertificates, zoneForecast, zoneLimit, zoneState } from '../../checks/zones.ts';
import type { Condition } from './condition.ts';

/** Every condition, in the order of the form. A new one is an object in its subject's check and a line here. */
const all = [
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

export type ConditionName = (typeof all)[number]['name'];

/** The memory of a condition is stored with its alert, so that each reads back its own. */
export const conditions = all as unknown as readonly Condition<ConditionName, unknown>[];
export const conditionNames: readonly ConditionName[] = all.map(({ name }) => name);

export function findCondition(name: ConditionName): (typeof conditions)[number] {
  const found = conditions.find((condition) => condition.name === name);
  if (!found) throw new Error(`unknown condition: ${name}`);
  return found;
}
