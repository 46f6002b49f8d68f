/** A Slack user. In an organisation-wide installation a person has one id in all workspaces of the organisation. */
export interface Person {
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

/** A person as a table has them. */
export function toPersonColumns(person: Person) {
  const { enterpriseId = null, teamId, userId } = person;
  return { tenant: tenantId(person), enterprise_id: enterpriseId, team_id: teamId, user_id: userId };
}

export function readPerson(row: Omit<ReturnType<typeof toPersonColumns>, 'tenant'>): Person {
  return { enterpriseId: row.enterprise_id ?? undefined, teamId: row.team_id, userId: row.user_id };
}

export function personKey(person: Person): string {
  return `${tenantId(person)}/${person.userId}`;
}

export interface Profile {
  readonly admin: boolean;
  readonly foreign: boolean;
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

export interface MissingScope {
  readonly lookup: 'admins' | 'groups';
  /** Slack's own word (`missing_scope`), or `no-answer`. */
  readonly reason: string;
  /** A refusal that stays until an admin changes something makes no one an admin or a member. Else it is not known. */
  readonly lasting: boolean;
}

/**
 * The people of one organisation or workspace, read from Slack for one click or job. Never throws: a failed look-up grants
 * nothing. `fresh` reads now, as far as Slack's rate limit allows; else answers are at most minutes old.
 */
export interface People {
  /** Undefined where Slack has or gives no profile. */
  profile(userId: string, options?: { readonly fresh?: boolean }): Promise<Profile | undefined>;
  /** The ids of a user group's members; undefined where Slack did not answer. */
  members(groupId: string, options?: { readonly fresh?: boolean }): Promise<readonly string[] | undefined>;
  groups(): Promise<readonly Group[]>;
  forget(userId: string): void;
  readonly configuredAdmins: readonly string[];
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
