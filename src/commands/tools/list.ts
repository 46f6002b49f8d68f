import { compareZones, listZoneChanges } from './changes.ts';
import { getApp, getUploadScanning } from './figures.ts';
import { listOriginErrors } from './origin-errors.ts';
import { proposeVariableChange, proposeVolumeDeletion } from './proposals.ts';
import { getRequest, listMyRequests } from './requests.ts';
import type { Tool } from './tool.ts';
import { zoneTools } from './zones.ts';

const { listZones, getZone, getScript } = zoneTools;

/** Every tool, in the order in which assistants see them. Slack asks for the list without a person, so it is one for all. */
export const tools: readonly Tool[] = [
  listZones,
  getZone,
  listOriginErrors,
  getApp,
  getScript,
  getUploadScanning,
  listZoneChanges,
  compareZones,
  listMyRequests,
  getRequest,
  proposeVolumeDeletion,
  proposeVariableChange,
];
