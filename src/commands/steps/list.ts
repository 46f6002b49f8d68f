import { deletionStep } from './deletion.ts';
import { originErrorsStep } from './origin-errors.ts';
import type { Step } from './step.ts';
import { zonesStep } from './zones.ts';

/** Every step of Workflow Builder. A new one is a file here, a line, and the same in manifest.yml. */
export const steps: readonly Step[] = [zonesStep, originErrorsStep, deletionStep];

export function findStep(id: string): Step | undefined {
  return steps.find((step) => step.id === id);
}
