/**
 * Who acts, as Slack names them. In an Enterprise organisation a person has one id across its workspaces,
 * so what belongs to a person is keyed by (enterprise or team, user).
 */
export interface Person {
  readonly enterpriseId?: string | undefined;
  readonly teamId: string;
  readonly userId: string;
}

/** The scope that a person's id is unique in: the Enterprise organisation if there is one, else the workspace. */
export function tenantOf(person: Person): string {
  return person.enterpriseId ?? person.teamId;
}

/** One string per person, for maps and caches. */
export function personKey(person: Person): string {
  return `${tenantOf(person)}/${person.userId}`;
}
