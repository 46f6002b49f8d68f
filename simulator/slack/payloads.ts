import type { Install } from './installs.ts';
import type { StoredMessage } from './messages.ts';
import { type Channel, type Json, type PersonRecord, textOf, type Workspace, type World } from './world.ts';

/** A person acting in the simulated Slack, and the workspace whose installation of the app gets the delivery. */
export interface Who {
  readonly person: PersonRecord;
  readonly installTeam: Workspace;
  readonly install: Install;
}

export const appId = 'A0CDNAPP0';
// The legacy verification token: sent by Slack in every body, a secret that must never reach a log.
const verificationToken = 'simulated-verification-token';

/** The form of a slash command, with the fields Slack sends; every value is a string. */
export function slashPayload(
  world: World,
  who: Who,
  channel: Channel,
  words: { command: string; text: string; triggerId: string; responseUrl: string },
): Json {
  // The person's own workspace: in a shared channel it differs from the one the app is installed in. An organization's
  // installation is told the workspace where the command was typed, and not whose the person is.
  const isInstalled = who.install.isOrg || world.namesInstalledTeam;
  const team = isInstalled ? who.installTeam : (world.team(who.person.teamId) ?? who.installTeam);
  const enterprise = team.enterpriseId
    ? { enterprise_id: team.enterpriseId, enterprise_name: world.workspaces.corp.name }
    : {};
  return {
    token: verificationToken,
    team_id: team.id,
    team_domain: team.domain,
    ...enterprise,
    channel_id: channel.id,
    channel_name: channel.name,
    user_id: who.person.id,
    user_name: who.person.name,
    command: words.command,
    text: words.text,
    api_app_id: appId,
    is_enterprise_install: String(who.install.isOrg),
    response_url: words.responseUrl,
    trigger_id: words.triggerId,
  };
}

/** The members of every interactive payload. In an org-wide install `team` is null; `enterprise` is that of the workspace. */
export function interactiveBase(world: World, who: Who, inView: boolean): Json {
  const own = world.team(who.person.teamId) ?? who.installTeam;
  const team = inView ? own : who.installTeam;
  const { corp } = world.workspaces;
  const { person } = who;
  return {
    api_app_id: appId,
    token: verificationToken,
    team: who.install.isOrg ? null : { id: team.id, domain: team.domain },
    enterprise: who.installTeam.enterpriseId ? { id: who.installTeam.enterpriseId, name: corp.name } : null,
    is_enterprise_install: who.install.isOrg,
    user: { id: person.id, username: person.name, name: person.name, team_id: person.teamId },
  };
}

/** `container`, `channel` and `message` of an action in a message. An ephemeral message is not sent along. */
export function messageContext(message: StoredMessage, channel: Channel, installTeam: Workspace): Json {
  const container = {
    type: 'message',
    message_ts: message.ts,
    channel_id: channel.id,
    is_ephemeral: message.ephemeralFor !== undefined,
    ...(message.threadTs === undefined ? {} : { thread_ts: message.threadTs }),
  };
  const base = { container, channel: { id: channel.id, name: channel.name } };
  return message.ephemeralFor === undefined
    ? { ...base, message: wireMessage(message, installTeam.id) }
    : base;
}

/** A message as the Web API and payloads show it. */
export function wireMessage(message: StoredMessage, teamId: string): Json {
  return {
    type: 'message',
    user: message.user,
    ts: message.ts,
    ...(message.botId === undefined ? {} : { bot_id: message.botId, app_id: appId }),
    text: message.text,
    team: teamId,
    blocks: message.blocks,
    ...(message.attachments.length > 0 ? { attachments: message.attachments } : {}),
    ...(message.threadTs === undefined ? {} : { thread_ts: message.threadTs }),
    ...(message.edited ? { edited: { user: message.user, ts: message.ts } } : {}),
    ...(message.metadata ? { metadata: message.metadata } : {}),
  };
}

/** An Events API body around an inner event. */
export function eventPayload(
  world: World,
  install: Install,
  teamId: string,
  event: Json,
  eventId: string,
  seconds: number,
): Json {
  const enterpriseId = world.team(teamId)?.enterpriseId;
  return {
    token: verificationToken,
    team_id: teamId,
    ...(enterpriseId ? { enterprise_id: enterpriseId } : {}),
    api_app_id: appId,
    event,
    type: 'event_callback',
    event_id: eventId,
    event_time: seconds,
    authorizations: [
      {
        enterprise_id: enterpriseId ?? null,
        // In an org-wide install the authorization belongs to no single workspace.
        team_id: install.isOrg ? null : install.id,
        user_id: install.botUserId,
        is_bot: true,
        is_enterprise_install: install.isOrg,
      },
    ],
    is_ext_shared_channel: world.channels.get(textOf(event['channel']))?.shared ?? false,
  };
}
