import { type Channel, type Json, memberKey, type PersonRecord, textOf } from '../world.ts';
import { type ApiCall, channelOf, type Method, page, personOf, Refused, stringArg } from './call.ts';

/** conversations.*, users.*, usergroups.*. */
export const peopleMethods: Record<string, Method> = {
  'conversations.open'(call) {
    const { users, channel } = call.args;
    if (typeof channel === 'string') return { channel: { id: channelOf(call, channel).id } };
    const ids = typeof users === 'string' ? users.split(',').filter((id) => id !== '') : [];
    const first = ids[0];
    if (first === undefined) throw new Refused('users_list_not_supplied');
    if (ids.length > 1) throw new Refused('method_not_supported_for_channel_type');
    const { installTeamId } = personOf(call, first);
    return { channel: { id: call.sim.world.dm(first, installTeamId).id } };
  },
  'conversations.info': (call) => ({ channel: channelObject(channelOf(call, stringArg(call, 'channel'))) }),
  'conversations.list'(call) {
    const found = [...call.sim.world.channels.values()].filter(
      (channel) => inScope(call, channel.teamId) && channel.kind === 'channel',
    );
    const { items, response_metadata } = page(call, found);
    return { channels: items.map(channelObject), response_metadata };
  },
  'conversations.members'(call) {
    const channel = channelOf(call, stringArg(call, 'channel'));
    const bot = channel.botIsMember ? [call.install.botUserId] : [];
    const { items, response_metadata } = page(call, [
      ...[...channel.members].map((key) => key.split('/')[1] ?? ''),
      ...bot,
    ]);
    return { members: items, response_metadata };
  },
  'users.info'(call) {
    const { person } = personOf(call, stringArg(call, 'user'));
    return { user: userObject(call, person) };
  },
  'users.list'(call) {
    const found = call.sim.world.people.filter((person) => inScope(call, person.teamId));
    const { items, response_metadata } = page(call, found);
    return { members: items.map((person) => userObject(call, person)), response_metadata };
  },
  'usergroups.list'(call) {
    const withUsers = textOf(call.args['include_users']) === 'true';
    const found = call.sim.world.userGroups.filter((group) => inScope(call, group.teamId));
    return {
      usergroups: found.map(({ id, teamId, handle, name, users }) => ({
        id,
        team_id: teamId,
        is_usergroup: true,
        handle,
        name,
        description: '',
        date_delete: 0,
        user_count: users.length,
        ...(withUsers ? { users } : {}),
      })),
    };
  },
  'usergroups.users.list'(call) {
    const id = stringArg(call, 'usergroup');
    const group = call.sim.world.userGroups.find((known) => inScope(call, known.teamId) && known.id === id);
    if (!group) throw new Refused('no_such_subteam');
    return { users: group.users };
  },
};

/**
 * Lists and user groups of an org-wide installation need `team_id`: its token is for no single workspace.
 * https://docs.slack.dev/reference/methods/usergroups.users.list
 */
function inScope(call: ApiCall, teamId: string): boolean {
  const { team_id: asked } = call.args;
  if (!call.install.isOrg) return teamId === call.install.id;
  if (typeof asked !== 'string')
    throw new Refused('missing_argument', ['[ERROR] missing required field: team_id']);
  if (!call.install.covers(asked)) throw new Refused('team_access_not_granted');
  return teamId === asked;
}

function channelObject(channel: Channel): Json {
  return {
    id: channel.id,
    name: channel.name,
    is_channel: channel.kind === 'channel',
    is_im: channel.kind === 'dm',
    is_private: channel.isPrivate === true,
    is_archived: channel.archived,
    is_member: channel.botIsMember,
    is_ext_shared: channel.shared,
    context_team_id: channel.teamId,
    num_members: channel.members.size,
  };
}

/** What an organization's own people have beside their workspace's members. */
function enterpriseUser(call: ApiCall, person: PersonRecord, enterpriseId: string): Json {
  return {
    id: person.id,
    enterprise_id: enterpriseId,
    enterprise_name: call.sim.world.workspaces.corp.name,
    is_admin: person.admin,
    is_owner: false,
    is_primary_owner: false,
    teams: [person.teamId],
  };
}

function userObject(call: ApiCall, person: PersonRecord): Json {
  const enterpriseId = call.sim.world.team(person.teamId)?.enterpriseId;
  const stranger = !call.install.covers(person.teamId);
  const shared = [...call.sim.world.channels.values()].some((channel) =>
    channel.members.has(memberKey(person.teamId, person.id)),
  );
  return {
    id: person.id,
    team_id: person.teamId,
    name: person.name,
    real_name: person.realName,
    deleted: person.deactivated === true,
    tz: person.timeZone,
    tz_label: 'Central European Time',
    tz_offset: person.timeZoneOffset,
    profile: { real_name: person.realName, display_name: person.name },
    // A visitor whom the app meets in a shared channel is no stranger: https://docs.slack.dev/reference/objects/user-object
    ...(stranger
      ? { is_stranger: !shared }
      : { is_admin: person.admin, is_owner: false, is_primary_owner: false }),
    ...(enterpriseId === undefined ? {} : { enterprise_user: enterpriseUser(call, person, enterpriseId) }),
    is_restricted: false,
    is_ultra_restricted: false,
    is_bot: false,
    is_app_user: false,
    ...(textOf(call.args['include_locale']) === 'true' ? { locale: 'en-GB' } : {}),
  };
}
