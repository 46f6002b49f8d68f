/** What Slack knows of somebody, as far as policy asks. */
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

/** A look-up that Slack did not allow or answer: until it does, nobody is admin or member by it. */
export interface MissingScope {
  readonly lookup: 'admins' | 'groups';
  /** Slack's own word (`missing_scope`), or `no-answer`. */
  readonly reason: string;
}

/**
 * The people of one organisation or workspace, as Slack tells. What cannot be looked up is not granted: nobody is an
 * admin, nobody is in a group, and `blind` says why. Never throws.
 */
export interface People {
  /** Undefined where Slack does not know them or does not tell. */
  profile(userId: string): Promise<Profile | undefined>;
  /** The ids of a user group's members; at most minutes old, `fresh` read now. */
  members(groupId: string, options?: { readonly fresh?: boolean }): Promise<readonly string[]>;
  /** Every user group. */
  groups(): Promise<readonly Group[]>;
  /** Looks again at somebody the next time. */
  forget(userId: string): void;
  /** Those who are admins by the deployment's configuration. */
  readonly configuredAdmins: readonly string[];
  /** What could not be looked up when it was last tried. */
  missingScopes(): readonly MissingScope[];
}

/** Which of these groups somebody is in. */
export async function findGroups(
  people: People,
  userId: string,
  among: readonly string[],
  options?: { readonly fresh?: boolean },
): Promise<string[]> {
  const members = await Promise.all(among.map((id) => people.members(id, options)));
  return among.filter((_, index) => members[index]?.includes(userId));
}
