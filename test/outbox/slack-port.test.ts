import { expect, test } from 'vitest';
import { UserError } from '../../src/errors.ts';
import { classifySlackFailure, readCode, readPlaceCode, SlackFailure } from '../../src/outbox/slack-port.ts';

test.each([
  ['pass', ['ratelimited', 'rate_limited', 'team_added_to_org', 'org_login_required', 'accesslimited']],
  ['pass', ['message_limit_exceeded', 'external_channel_migrating']],
  ['unclear', ['service_unavailable', 'fatal_error', 'internal_error', 'request_timeout', 'update_failed']],
  ['lift', ['ekm_access_denied', 'access_denied', 'enterprise_is_restricted', 'two_factor_setup_required']],
  [
    'lift',
    ['invalid_auth', 'token_expired', 'storage_limit_reached', 'file_type_not_allowed', 'not_enabled'],
  ],
  ['lacking', ['no_permission', 'permission_denied', 'team_access_not_granted', 'missing_scope']],
  ['lacking', ['plan_upgrade_required', 'paid_teams_only', 'user_is_bot', 'user_is_restricted']],
  [
    'place',
    ['is_archived', 'not_in_channel', 'channel_not_found', 'restricted_action', 'restricted_action_new'],
  ],
  ['place', ['posting_to_channel_denied', 'invalid_channel', 'slack_connect_file_link_sharing_blocked']],
  [
    'place',
    ['channel_is_limited_access', 'invalid_user_combination', 'method_not_supported_for_channel_type'],
  ],
  ['app', ['account_inactive', 'token_revoked', 'user_removed_from_team']],
  ['unclear', ['fetch_members_failed', 'no_answer', 'http_503', 'http_404']],
  ['absent', ['not_found', 'hash_conflict', 'thread_not_found', 'users_not_found', 'team_not_found']],
  [
    'absent',
    ['message_not_found', 'is_inactive', 'file_deleted', 'no_such_subteam', 'execution_not_in_running_state'],
  ],
  [
    'refused',
    ['invalid_blocks', 'msg_too_long', 'view_too_large', 'cant_delete_file', 'a_new_one', 'constructor'],
  ],
])('Slack’s codes: %s', (meaning, codes) => {
  for (const code of codes) expect([code, readCode(code)]).toEqual([code, meaning]);
});

test.each([
  [new SlackFailure('ratelimited', { retryAfterSeconds: 7 }), { meaning: 'pass', askedMs: 7_000 }],
  [new SlackFailure('ratelimited', { retryAfterSeconds: 0.1 }), { meaning: 'pass', askedMs: 1_000 }],
  [new SlackFailure('ratelimited', { retryAfterSeconds: 9_000 }), { meaning: 'pass', askedMs: 600_000 }],
  [new SlackFailure('rate_limited'), { meaning: 'pass', askedMs: undefined }],
  [new SlackFailure('no_answer'), { meaning: 'unclear' }],
  [new SlackFailure('ekm_access_denied'), { meaning: 'lift' }],
  [new SlackFailure('missing_scope'), { meaning: 'lacking' }],
  [new SlackFailure('held_back', { reference: 'r1' }), { meaning: 'refused', reference: 'r1' }],
  [new UserError('not installed'), { meaning: 'app' }],
  [new Error('a bug'), { meaning: 'not-sent' }],
])('%s', (error, expected) => {
  expect(classifySlackFailure(error)).toMatchObject(expected);
  // Only what Slack leaves open may have taken effect.
  const isOpen = expected.meaning === 'unclear';
  const outcome = error instanceof SlackFailure ? error.outcome : 'refused';
  expect(outcome).toBe(isOpen ? 'unknown' : 'refused');
});

test.each([
  ['not_in_channel', 'outside'],
  ['channel_not_found', 'outside'],
  ['is_archived', 'archived'],
  ['channel_is_archived', 'archived'],
  ['restricted_action', undefined],
])('Slack’s %s says of the channel: %s', (code, why) => {
  expect(readPlaceCode(code)).toBe(why);
});
