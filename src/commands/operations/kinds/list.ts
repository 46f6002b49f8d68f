import type { Kind } from './kind.ts';
import { settingsChange } from './settings.ts';
import { variableUpdate } from './variable.ts';
import { volumeDeletion } from './volume.ts';

/** Every kind of operation. A new one is a file here and a line. */
export const operationKinds: readonly Kind<unknown>[] = [volumeDeletion, variableUpdate, settingsChange];
