/** A Slack user. In an organization-wide installation a person has one id in all workspaces of the organization. */
export interface Person {
  readonly enterpriseId?: string | undefined;
  readonly teamId: string;
  readonly userId: string;
}

export type Installation = Pick<Person, 'enterpriseId' | 'teamId'>;

export function tenantId({ enterpriseId, teamId }: Installation): string {
  return enterpriseId ?? teamId;
}

/** The columns by which a person’s rows are found. */
export function ofPerson(person: Person) {
  return { tenant: tenantId(person), user_id: person.userId };
}

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
  readonly bot?: true;
  /** IANA name, or the offset (`+05:30`). */
  readonly timeZone: string | undefined;
  readonly unread?: true;
}

export interface Group {
  /** In an organization behind its workspace's: `T…/S…`. */
  readonly id: string;
  readonly name: string;
  readonly handle: string;
}

export function mentionGroup(id: string): string {
  return `<!subteam^${id.split('/').at(-1)}>`;
}

export interface MissingScope {
  readonly lookup: 'admins' | 'groups';
  readonly reason: string;
  /** Stays until an admin changes something, and then makes no one an admin or a member. Else it is not known. */
  readonly lasting: boolean;
}

/** The people of one organization, read from Slack. Never throws: a failed look-up grants nothing. `fresh` reads now. */
export interface People {
  profile(userId: string, options?: { readonly fresh?: boolean }): Promise<Profile | undefined>;
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
