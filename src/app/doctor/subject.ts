import type { Secret } from '../../secrets/secret.ts';
import type { NativeSupport } from '../../slack/send/native-blocks.ts';
import type { Database } from '../../store/database.ts';
import type { Finding } from '../../views/doctor.ts';
import type { Config } from '../config.ts';
import type { createDriftWatch } from '../drift.ts';

export interface Subject {
  readonly config: Config;
  readonly fetch: typeof globalThis.fetch;
  /** Lets tokens out to Slack only. */
  readonly slackFetch: typeof globalThis.fetch;
  readonly now: () => Date;
  /** Undefined where it is not open; then `closed` says why. */
  readonly database: Database | undefined;
  readonly closed?: Finding | undefined;
  readonly findWorkspaces?: () => Promise<Workspaces>;
  readonly support?: Pick<NativeSupport, 'list' | 'record'> | undefined;
  /** A person who gets charts and tables, which are taken back at once. */
  readonly probe?: string | undefined;
  readonly key?: Secret | undefined;
  /** Where answers of the CDN differed from the specification; undefined where none are seen. */
  readonly drift?: Pick<ReturnType<typeof createDriftWatch>, 'report' | 'examine'>;
  /** What only the running bot knows. */
  readonly running?: {
    readonly verifyToken: () => Promise<void>;
    /** Why the database or its keyring cannot be used; asked once while it is unanswered. */
    readonly findStoreProblem: () => Promise<string | undefined>;
    /** Connections with a recent frame; undefined where deliveries come another way. */
    readonly slackConnections: () => number | undefined;
    readonly findSlackProblem?: () => string | undefined;
    readonly findSkew: () => Promise<number | undefined>;
  };
}

export interface Workspace {
  readonly token: Secret;
  readonly channels: readonly string[];
  /** Goes before its checks where the bot serves many. */
  readonly prefix?: string;
  /** Of many only the token is told, and what is not well. */
  readonly isBrief?: boolean;
}

export interface Workspaces {
  readonly found: readonly Finding[];
  readonly workspaces: readonly Workspace[];
}

export const tokenCheck = 'slack token';
