/** What an action does to the world; decides who may run it (DESIGN §5). */
export type Right = 'none' | 'read';

export interface Standing {
  /** The person comes from another organisation (Slack Connect). */
  readonly foreign: boolean;
  /** The person has linked a CDN key. */
  readonly linked: boolean;
}

export interface Decision {
  readonly allowed: boolean;
  readonly reason: 'open-to-all' | 'own-key' | 'foreign' | 'no-key';
}

/**
 * Whether somebody may do something. Pure and total: the same standing always gives the same answer.
 * Before an admin has said anything, everybody who linked a key may read and nothing else.
 */
export function decide(standing: Standing, right: Right): Decision {
  if (standing.foreign) return { allowed: false, reason: 'foreign' };
  if (right === 'none') return { allowed: true, reason: 'open-to-all' };
  return standing.linked ? { allowed: true, reason: 'own-key' } : { allowed: false, reason: 'no-key' };
}
