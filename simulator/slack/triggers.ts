import { randomBytes } from 'node:crypto';
import { evictOldest } from './clock.ts';

/** The person and workspace behind a trigger; a view opened with it is shown to this person. */
export interface TriggerOrigin {
  /** The workspace of the installed app. */
  installTeamId: string;
  /** The person's own workspace. */
  teamId: string;
  userId: string;
  /** The view the trigger came from, if any. */
  viewId?: string | undefined;
}

type TriggerError = 'invalid_trigger_id' | 'expired_trigger_id' | 'exchanged_trigger_id';

/** Trigger ids: valid for 3 s of the given clock, for one use (docs.slack.dev/interactivity/handling-user-interaction). */
export interface Triggers {
  issue(origin: TriggerOrigin): string;
  /** Looks without using, so that a call that fails for another reason leaves the trigger alone. */
  check(id: unknown): TriggerOrigin | TriggerError;
  use(id: string): void;
}

const lifeMs = 3000;

export function createTriggers(now: () => number): Triggers {
  const issued = new Map<string, { origin: TriggerOrigin; at: number; used: boolean }>();
  let count = 0;
  return {
    issue(origin) {
      count += 1;
      const id = `${count}${Math.floor(now())}.${count}.${randomBytes(16).toString('hex')}`;
      issued.set(id, { origin, at: now(), used: false });
      evictOldest(issued);
      return id;
    },
    check(id) {
      const trigger = typeof id === 'string' ? issued.get(id) : undefined;
      if (!trigger) return 'invalid_trigger_id';
      if (trigger.used) return 'exchanged_trigger_id';
      return now() - trigger.at > lifeMs ? 'expired_trigger_id' : trigger.origin;
    },
    use(id) {
      const trigger = issued.get(id);
      if (trigger) trigger.used = true;
    },
  };
}
