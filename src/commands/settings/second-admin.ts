import { findGroups, tenantId } from '../../auth/identity.ts';
import { findOtherAdmins, RolesUnknown } from '../../auth/policy/authorizer.ts';
import { findLowering, type Lowering } from '../../auth/policy/lowering.ts';
import type { Policy } from '../../auth/policy/policy.ts';
import type { With } from '../define.ts';

/** As many are told. */
const mostAdmins = 10;

/**
 * The admins of whom one must confirm this person's change of the settings, by the groups and profiles of now; undefined
 * where it lowers nothing or the bot knows no other admin.
 *
 * @throws RolesUnknown where Slack does not say what decides.
 */
export async function findSecondAdmins(
  before: Policy,
  after: Policy,
  { people, person, policies }: With<'policies'>,
): Promise<{ readonly admins: readonly string[]; readonly lowers: Lowering } | undefined> {
  const both = [before, after].flatMap((policy) => [...policy.operatorGroups, ...policy.approverGroups]);
  const { userId } = person;
  const { groups, unread } = await findGroups(people, userId, [...new Set(both)], { fresh: true });
  if (unread.length > 0 && before.secondAdmin) throw new RolesUnknown();
  const lowers = findLowering(before, after, { userId, groups });
  if (!lowers) return undefined;
  const known = await policies.knownPeople(tenantId(person));
  const admins = await findOtherAdmins(people, known, userId);
  return admins.length > 0 ? { admins: admins.slice(0, mostAdmins), lowers } : undefined;
}
