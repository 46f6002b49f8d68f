import type { PullZone } from './zone-fields.ts';

export interface ApiKey {
  Id: number;
  /** In plain text on the wire, as the service does it. */
  Key: string | null;
  Roles: string[];
}

interface Variable {
  Id: number;
  Name: string;
  Required: boolean;
  DefaultValue: string;
}

export interface Script {
  Id: number;
  variables: Variable[];
}

export interface OriginErrorEntry {
  logId: string;
  /** ms since the epoch. */
  timestamp: number;
  /** A JSON document as a string. */
  log: string;
  labels: Record<string, string>;
}

export interface OriginErrors {
  /** How many entries are generated for a zone on a UTC day (`2026-11-20`): a number for all, or a rule. */
  count: number | ((zone: { id: number; name: string }, day: string) => number);
  /** Exact entries, by `1001/2026-11-20`; they win over generated ones. */
  entries: Map<string, OriginErrorEntry[]>;
  /** Unset: the answer has `logs` alone, as specified. Set: also hasMoreData, continuationToken and startToken. */
  hasMoreData?: boolean;
}

interface VolumeInstance {
  id: string;
  /** Deleting a volume needs every instance to be detached. */
  detached: boolean;
}

export interface App {
  id: string;
  averageLatency: number;
  currentLatency: number;
  totalVolumeSizeInGb: number;
  /** USD a month. */
  monthlyCost: number;
  /** Not in the specification's table, only in its prose: sent where it is set. */
  status?: string;
  /** Unset: thirty UTC days up to today are generated. */
  latencyChart?: Record<string, number>;
  /** Volume templates by id, each with its instances. A volume without instances is gone. */
  volumes: Record<string, VolumeInstance[]>;
}

/** One DELETE that reached the service, whether or not its answer arrived. */
export interface VolumeDeletion {
  appId: string;
  volumeId: string;
  status: number;
  /** Instances that were deleted. */
  ids: string[];
}

export interface ScanCounts {
  loggedRequests: number;
  blockedRequests: number;
  filesScanned: number;
}

export interface ShieldZone {
  id: number;
  /** Upload scanning is not part of the basic plan: such a zone refuses. */
  plan: 'basic' | 'advanced';
  /** By `dd-MM-yyyy`. Unset: 28 UTC days up to today are generated. Null goes out as null. */
  overview?: Record<string, ScanCounts> | null;
}

export interface UploadScanning {
  /** `error` of a success: null, or the default object whose `success: false` means nothing. */
  errorOnSuccess: 'null' | 'object';
  /** Status of a refusal (unknown zone, plan without the feature): the live service uses both. */
  refusalStatus: 200 | 202;
}

export interface EventLogs {
  /** Rows before filters and query. */
  rows: number;
  /**
   * Set: the matching rows are repeated until the file has this many bytes (never more, whole lines, at most one line
   * short). Up to gigabytes: nothing but one block of rows is held.
   */
  bytes?: number;
  /** Send Content-Length instead of chunks. */
  announceLength: boolean;
  contentType: 'text/csv' | 'application/json';
  /** The specification binds the end of the window to the last 72 hours; true binds the start as well. */
  bindStart: boolean;
  /** How a window outside the 72 hours is refused: 400 in shape B, or the 401 envelope of the sibling operation. */
  windowRefusal: 400 | 401;
}

/** How a key that is not accepted is answered, where the service is known to do it in two ways. */
export interface Unauthorized {
  /** Core and compute: a Message, or no body at all. */
  core: 'message' | 'empty';
  /** Shield: bare problem details as seen live, or the shapes of the specification (C for metrics, B for export). */
  shield: 'problem' | 'specified';
}

/** Everything the simulated service knows. Live: a test may change it between two requests. */
export interface CdnData {
  /**
   * In the order of the list. Up to 2 000 generated zones may be changed in place; larger worlds are frozen, because
   * their bytes are kept: put a changed copy in a zone's place.
   */
  zones: PullZone[];
  /** Keys that are accepted, with what they may; `restricted` is refused by List API Keys. Delete one to revoke it. */
  accessKeys: Map<string, 'full' | 'restricted'>;
  /** The answer of List API Keys; independent of accessKeys. */
  apiKeys: ApiKey[];
  scripts: Script[];
  originErrors: OriginErrors;
  apps: App[];
  shieldZones: ShieldZone[];
  uploadScanning: UploadScanning;
  eventLogs: EventLogs;
  unauthorized: Unauthorized;
  /** Every DELETE that reached the operation, oldest first. */
  volumeDeletions: VolumeDeletion[];
}
