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
  /** IANA name (`Europe/Vienna`), or the offset (`+05:30`) where this system does not know the name. */
  readonly timeZone: string | undefined;
  /** Slack did not answer: the members above are not known. */
  readonly unread?: true;
}

export interface Group {
  /** In an organisation behind its workspace's: `T…/S…`. Such ids are stored in the settings. */
  readonly id: string;
  readonly name: string;
  readonly handle: string;
}

export function mentionGroup(id: string): string {
  return `<!subteam^${id.split('/').at(-1)}>`;
}

/** A look-up that Slack refused or did not answer. */
export interface MissingScope {
  readonly lookup: 'admins' | 'groups';
  /** Slack's own word (`missing_scope`), or `no-answer`. */
  readonly reason: string;
  /** A refusal that stays until an admin changes something makes no one an admin or a member. Else it is not known. */
  readonly lasting: boolean;
}

/**
 * The people of one organisation or workspace, read from Slack for one click or job. A failed look-up grants nothing, and
 * `missingScopes` gives the reason. Never throws. `fresh` reads now, shared between clicks as far as Slack's rate limit
 * asks for it; else answers are at most minutes old.
 */
export interface People {
  /** Undefined where Slack has or gives no profile. */
  profile(userId: string, options?: { readonly fresh?: boolean }): Promise<Profile | undefined>;
  /** The ids of a user group's members; undefined where Slack did not answer. */
  members(groupId: string, options?: { readonly fresh?: boolean }): Promise<readonly string[] | undefined>;
  groups(): Promise<readonly Group[]>;
  /** Drops a cached profile. */
  forget(userId: string): void;
  /** The admins named in the deployment's configuration. */
  readonly configuredAdmins: readonly string[];
  /** The look-ups that failed when last tried. */
  missingScopes(): readonly MissingScope[];
}

/** The groups, of these, that a person is in, and those that Slack did not tell of. */
export async function findGroups(
  people: People,
  userId: string,
  among: readonly string[],
  options?: { readonly fresh?: boolean },
): Promise<{ readonly groups: string[]; readonly unread: string[] }> {
  const members = await Promise.all(among.map((id) => people.members(id, options)));
  return {
    groups: among.filter((_, index) => members[index]?.includes(userId)),
    unread: among.filter((_, index) => members[index] === undefined),
  };
}
