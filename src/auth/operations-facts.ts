import type { ClickFacts, Facts, Operation } from './operations-model.ts';
import type { People } from './people.ts';
import type { Actor, Policy } from './policy.ts';
import type { Standing } from './standing.ts';

/** What `begin` needs to know, read afresh. `standing`: of the requester, or of anybody of the same tenant. */
export declare function factsOf(standing: Standing, operation: Operation): Promise<Facts>;

/** What a click needs to know, read afresh. `standing`: of the person who presses. */
export declare function clickFactsOf(
  standing: Standing,
  operation: Operation,
  clickerId: string,
): Promise<ClickFacts>;

/** Whom the policy names as approvers, by themselves or by a group: for `quorum`. Those who are gone are left out. */
export declare function approverCandidates(people: People, policy: Policy): Promise<Actor[]>;
