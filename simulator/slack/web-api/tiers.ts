/**
 * Calls a minute that Slack surely answers, by method, for each installation: the tiers of
 * https://docs.slack.dev/apis/web-api/rate-limits. `auth.test` and `chat.postMessage` have limits of their own kind.
 */
const tiers: Readonly<Record<number, readonly string[]>> = {
  20: ['auth.teams.list', 'conversations.list', 'usergroups.list', 'usergroups.users.list', 'users.list'],
  50: [
    'apps.connections.open',
    'chat.delete',
    'chat.update',
    'conversations.history',
    'conversations.info',
    'conversations.open',
    'conversations.replies',
    'files.delete',
    'functions.completeError',
    'functions.completeSuccess',
  ],
  100: [
    'chat.postEphemeral',
    'conversations.members',
    'files.completeUploadExternal',
    'files.getUploadURLExternal',
    'users.info',
  ],
  // Of this tier too, for which Slack promises generous bursts: a person who presses every button makes one.
  600: ['views.open', 'views.publish', 'views.push', 'views.update'],
};
const perMinute = new Map(
  Object.entries(tiers).flatMap(([calls, methods]) => methods.map((method) => [method, Number(calls)])),
);

/** Counts the calls of an installation; answers the seconds to wait where it made more than its tier allows. */
export function createTiers(now: () => number): (installation: string, method: string) => number | undefined {
  const made = new Map<string, number[]>();
  return (installation, method) => {
    const most = perMinute.get(method);
    if (most === undefined) return undefined;
    const key = `${installation}/${method}`;
    const recent = (made.get(key) ?? []).filter((at) => at > now() - 60_000);
    made.set(key, recent);
    if (recent.length < most) {
      recent.push(now());
      return undefined;
    }
    return Math.max(1, Math.ceil(((recent[0] ?? now()) + 60_000 - now()) / 1000));
  };
}
