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

/** An installation: its workspace, and its organisation where it was installed for all of it. */
export type Installation = Pick<Person, 'enterpriseId' | 'teamId'>;

/** The installation that a person belongs to: the organisation's, else the workspace's. */
export function tenantId({ enterpriseId, teamId }: Installation): string {
  return enterpriseId ?? teamId;
}

/** One string per person, for maps and caches. */
export function personKey(person: Person): string {
  return `${tenantId(person)}/${person.userId}`;
}

/** The facts of a Slack profile that policy uses. */
export interface Profile {
  readonly admin: boolean;
  /** Belongs to another organisation. */
  readonly foreign: boolean;
  /** Deactivated. */
  readonly deleted: boolean;
  /** IANA name: `Europe/Vienna`. */
  readonly timeZone: string | undefined;
}

export interface Group {
  readonly id: string;
  readonly name: string;
  readonly handle: string;
}

/** A look-up that Slack refused or did not answer. Until it succeeds, roles are unknown. */
export interface MissingScope {
  readonly lookup: 'admins' | 'groups';
  /** Slack's own word (`missing_scope`), or `no-answer`. */
  readonly reason: string;
}

/**
 * The people of one organisation or workspace, read from Slack. A failed look-up grants nothing, and `missingScopes`
 * gives the reason. Never throws.
 */
export interface People {
  /** Undefined where Slack has or gives no profile; at most minutes old, `fresh` read now. */
  profile(userId: string, options?: { readonly fresh?: boolean }): Promise<Profile | undefined>;
  /** The ids of a user group's members; at most minutes old, `fresh` read now. */
  members(groupId: string, options?: { readonly fresh?: boolean }): Promise<readonly string[]>;
  groups(): Promise<readonly Group[]>;
  /** Drops a cached profile. */
  forget(userId: string): void;
  /** The admins named in the deployment's configuration. */
  readonly configuredAdmins: readonly string[];
  /** The look-ups that failed when last tried. */
  missingScopes(): readonly MissingScope[];
}

/** The groups, of these, that a person is in. */
export async function findGroups(
  people: People,
  userId: string,
  among: readonly string[],
  options?: { readonly fresh?: boolean },
): Promise<string[]> {
  const members = await Promise.all(among.map((id) => people.members(id, options)));
  return among.filter((_, index) => members[index]?.includes(userId));
}
