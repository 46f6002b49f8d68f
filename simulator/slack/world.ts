/** A JSON object whose members are not checked yet. */
export type Json = Record<string, unknown>;

export interface Workspace {
  readonly id: string;
  readonly name: string;
  readonly domain: string;
  readonly enterpriseId?: string;
  readonly botToken: string;
  readonly botUserId: string;
  readonly botId: string;
}

/** An Enterprise organization where the app is installed once for all its workspaces. */
interface OrgInstall {
  readonly id: string;
  readonly name: string;
  readonly domain: string;
  readonly botToken: string;
  readonly botUserId: string;
  readonly botId: string;
  readonly workspaces: readonly Workspace[];
}

export interface PersonRecord {
  readonly id: string;
  readonly name: string;
  readonly realName: string;
  readonly teamId: string;
  /** Shown beside the name in the playground. */
  readonly role: string;
  readonly admin: boolean;
  readonly timeZone: string;
  readonly timeZoneOffset: number;
  /** Deactivated by an admin; users.info still tells of them. */
  deactivated?: boolean;
}

export interface Channel {
  readonly id: string;
  readonly name: string;
  readonly kind: 'channel' | 'dm';
  readonly teamId: string;
  /** `team/user` of the people in it; another organization's people are in shared channels. */
  readonly members: Set<string>;
  botIsMember: boolean;
  archived: boolean;
  readonly shared: boolean;
  readonly isPrivate?: boolean;
}

interface UserGroup {
  readonly id: string;
  readonly teamId: string;
  readonly handle: string;
  readonly name: string;
  readonly users: string[];
}

export interface World {
  readonly workspaces: { readonly acme: Workspace; readonly beta: Workspace; readonly corp: OrgInstall };
  readonly teams: readonly Workspace[];
  readonly people: readonly PersonRecord[];
  readonly channels: Map<string, Channel>;
  readonly userGroups: UserGroup[];
  /** A slash command in a shared channel names the workspace of the installation, not that of the person. */
  namesInstalledTeam: boolean;
  team(id: string): Workspace | undefined;
  person(userId: string, teamId?: string): PersonRecord | undefined;
  /** The conversation between a person and the bot of a workspace; made when it is first needed. */
  dm(userId: string, teamId: string): Channel;
}

export function memberKey(teamId: string, userId: string): string {
  return `${teamId}/${userId}`;
}

/**
 * The people and places of the simulated Slack: acme with everything, beta where U0ALICE00 is another human,
 * corp as an org-wide install over two workspaces, and eve, who visits acme's #shared from another organization.
 */
export function createWorld(): World {
  const acme = workspace('T0ACME000', 'Acme', 'acme', 'U0CDNBOT0', 'B0CDNBOT0');
  const beta = workspace('T0BETA000', 'Beta', 'beta', 'U0BETABOT', 'B0BETABOT');
  const rival = workspace('T0RIVAL00', 'Rival', 'rival', 'U0RIVALBT', 'B0RIVALBT');
  const corpBot = { botToken: token('E0CORP0000'), botUserId: 'U0CORPBOT', botId: 'B0CORPBOT' };
  const one = {
    ...workspace('T0CORPONE', 'Corp One', 'corp-one', '', ''),
    ...corpBot,
    enterpriseId: 'E0CORP0000',
  };
  const two = {
    ...workspace('T0CORPTWO', 'Corp Two', 'corp-two', '', ''),
    ...corpBot,
    enterpriseId: 'E0CORP0000',
  };
  const corp = { id: 'E0CORP0000', name: 'Corp', domain: 'corp', ...corpBot, workspaces: [one, two] };
  const teams = [acme, beta, one, two, rival];

  const people = [
    person('U0ALICE00', 'alice', 'Alice Adams', acme, 'admin'),
    person('U0BOB0000', 'bob', 'Bob Brown', acme, 'operator'),
    person('U0CAROL00', 'carol', 'Carol Clark', acme, 'approver'),
    person('U0DAVE000', 'dave', 'Dave Dunn', acme, 'reader'),
    person('U0EVE0000', 'eve', 'Eve Evans', rival, 'from another organization'),
    person('U0ALICE00', 'alice', 'Alice Albright', beta, 'member'),
    person('U0FRANK00', 'frank', 'Frank Fox', one, 'admin'),
    person('U0GRACE00', 'grace', 'Grace Gray', two, 'member'),
  ];
  const ofAcme = people.filter((someone) => someone.teamId === acme.id);
  const channels = new Map<string, Channel>();
  const add = (id: string, name: string, team: Workspace, members: PersonRecord[], bot = true): void => {
    const inside = new Set(members.map((someone) => memberKey(someone.teamId, someone.id)));
    const shared = members.some((someone) => someone.teamId !== team.id);
    channels.set(id, {
      id,
      name,
      kind: 'channel',
      teamId: team.id,
      members: inside,
      botIsMember: bot,
      archived: false,
      shared,
    });
  };
  add('C0OPS0000', 'ops', acme, ofAcme);
  add('C0DEPLOY0', 'deploys', acme, ofAcme);
  add('C0RANDOM0', 'random', acme, ofAcme, false);
  add('C0SHARED0', 'shared', acme, [...ofAcme, ...people.filter((someone) => someone.teamId === rival.id)]);
  for (const [team, id] of [
    [beta, 'C0BETAOPS'],
    [one, 'C0CORPONE'],
    [two, 'C0CORPTWO'],
  ] as const) {
    add(
      id,
      'ops',
      team,
      people.filter((someone) => someone.teamId === team.id),
    );
  }

  const findPerson = (userId: string, teamId?: string): PersonRecord | undefined =>
    people.find((someone) => someone.id === userId && (teamId === undefined || someone.teamId === teamId));
  const world: World = {
    workspaces: { acme, beta, corp },
    teams,
    people,
    channels,
    namesInstalledTeam: false,
    userGroups: [
      { id: 'S0OPERATE', teamId: acme.id, handle: 'operators', name: 'Operators', users: ['U0BOB0000'] },
      { id: 'S0APPROVE', teamId: acme.id, handle: 'approvers', name: 'Approvers', users: ['U0CAROL00'] },
    ],
    team: (id) => teams.find((team) => team.id === id),
    person: findPerson,
    dm(userId, teamId) {
      // The first human with an id has the short DM id; her namesake elsewhere needs one of her own.
      const home = findPerson(userId)?.teamId === teamId || findPerson(userId, teamId) === undefined;
      const id = home ? `D${userId}` : `D${userId}${teamId}`;
      const known = channels.get(id);
      if (known) return known;
      const humanTeam = findPerson(userId, teamId)?.teamId ?? findPerson(userId)?.teamId ?? teamId;
      const members = new Set([memberKey(humanTeam, userId)]);
      const made: Channel = {
        id,
        name: 'directmessage',
        kind: 'dm',
        teamId,
        members,
        botIsMember: true,
        archived: false,
        shared: false,
      };
      channels.set(id, made);
      return made;
    },
  };
  for (const someone of people) world.dm(someone.id, someone.teamId === rival.id ? acme.id : someone.teamId);
  return world;
}

function workspace(id: string, name: string, domain: string, botUserId: string, botId: string): Workspace {
  return { id, name, domain, botToken: token(id), botUserId, botId };
}

function token(install: string): string {
  return `xoxb-simulated-${install.toLowerCase()}`;
}

function person(id: string, name: string, realName: string, team: Workspace, role: string): PersonRecord {
  return {
    id,
    name,
    realName,
    teamId: team.id,
    role,
    admin: role === 'admin',
    timeZone: 'Europe/Berlin',
    timeZoneOffset: 3600,
  };
}

/** Whether something parsed is an object with members (and not a list). */
export function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A member that may be missing, as text: strings, numbers and booleans as they are, anything else as ''. */
export function textOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? String(value)
    : '';
}
