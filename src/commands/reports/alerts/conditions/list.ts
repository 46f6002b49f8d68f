import { hostErrors, newCodes, originErrors, risingErrors } from '../../checks/errors.ts';
import { appCost } from './apps/cost.ts';
import { appLatency } from './apps/latency.ts';
import { appStatus } from './apps/status.ts';
import type { Condition } from './condition.ts';
import { scanning } from './scanning.ts';
import { charges } from './zones/charges.ts';
import { endingCertificates } from './zones/ending-certificates.ts';
import { zoneForecast } from './zones/forecast.ts';
import { zoneLimit } from './zones/limit.ts';
import { missingCertificates } from './zones/missing-certificates.ts';
import { settings } from './zones/settings.ts';
import { zoneState } from './zones/state.ts';

/** Every condition, in the order of the form. A new one is a file in this folder and a line here. */
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

/** What a condition remembers is stored and read back with its watch, so that each gets its own. */
export const conditions = all as unknown as readonly Condition<ConditionName, unknown>[];
export const conditionNames: readonly ConditionName[] = all.map(({ name }) => name);

export function findCondition(name: ConditionName): (typeof conditions)[number] {
  const found = conditions.find((condition) => condition.name === name);
  if (!found) throw new Error(`unknown condition: ${name}`);
  return found;
}
