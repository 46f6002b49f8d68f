import type { RequestedKind } from './requested.ts';
import { settingsChange } from './settings.ts';
import { variableUpdate } from './variable.ts';
import { volumeDeletion } from './volume.ts';

/** Every kind of operation. A new one is a file here and a line. */
export const operationKinds: readonly RequestedKind<unknown>[] = [
  volumeDeletion,
  variableUpdate,
  settingsChange,
];
