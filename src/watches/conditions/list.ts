import type { Condition } from './condition.ts';
import { zoneState } from './zone-state.ts';

/** Every condition, in the order of the form. A new one is a file beside this one and a line here. */
const all = [zoneState] as const;

export type ConditionName = (typeof all)[number]['name'];

/** What a condition remembers is stored and read back with its watch, so that each gets its own. */
export const conditions = all as unknown as readonly Condition<ConditionName, unknown>[];
export const conditionNames: readonly ConditionName[] = all.map(({ name }) => name);

export function findCondition(name: ConditionName): (typeof conditions)[number] {
  const found = conditions.find((condition) => condition.name === name);
  if (!found) throw new Error(`unknown condition: ${name}`);
  return found;
}
