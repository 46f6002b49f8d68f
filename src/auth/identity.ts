/**
 * A Slack user. With an organisation-wide installation a person has one id across the workspaces of the organisation, so
 * their data is keyed by (enterprise or team, user).
 */
export interface Person {
  /** Set only where the app is installed for the whole organisation. */
  readonly enterpriseId?: string | undefined;
  readonly teamId: string;
  readonly userId: string;
}

/** The installation that a person belongs to: the organisation's, else the workspace's. */
export function tenantId(person: Person): string {
  return person.enterpriseId ?? person.teamId;
}

/** One string per person, for maps and caches. */
export function personKey(person: Person): string {
  return `${tenantId(person)}/${person.userId}`;
}
