export interface Scope {
  readonly use: string;
  readonly lost: string;
  readonly optional?: true;
}

/** The scopes of the bot, for Slack, the install page and the doctor. A test compares them with the manifest. */
export const scopes = {
  commands: { use: 'answers /cdn, its buttons and forms', lost: 'nothing works' },
  'chat:write': {
    use: 'posts digests, approvals and answers that you share, in channels it was invited to',
    lost: 'no digests, exports and approvals, and no answers after 30 minutes',
  },
  'files:write': { use: 'sends exports and long lists as files', lost: 'answers come without their files' },
  'im:write': {
    use: 'sends private files and notices as direct messages',
    lost: 'no files, and no messages to one person',
  },
  'channels:history': {
    use: 'looks for a message of its own in a public channel when Slack gave no answer to its posting',
    lost: 'a message whose posting got no answer is not looked for in public channels',
    optional: true,
  },
  'groups:history': {
    use: 'the same in private channels it was invited to',
    lost: 'a message whose posting got no answer is not looked for in private channels',
    optional: true,
  },
  'metadata.message:read': {
    use: 'recognizes that message by a mark which the bot put on it',
    lost: 'a message whose posting got no answer is not recognized',
    optional: true,
  },
  'users:read': {
    use: 'sees who is an admin, who was deactivated, and the time zone of whoever asks',
    lost: 'nobody is an admin by Slack’s role, and deactivated people are not noticed',
    optional: true,
  },
  'usergroups:read': {
    use: 'knows the members of user groups that you give rights to',
    lost: 'user groups in the settings have no members',
    optional: true,
  },
  'app_mentions:read': {
    use: 'answers when somebody mentions it, also in threads',
    lost: 'mentions get no answer, so that it cannot be asked in threads',
    optional: true,
  },
  'im:history': {
    use: 'answers what people write in their own conversation with it',
    lost: 'what is written to it gets no answer',
    optional: true,
  },
  'channels:read': {
    use: 'sees whether people of other organisations read a public channel before it posts an answer there',
    lost: 'answers are shared only into channels that the settings name',
    optional: true,
  },
  'groups:read': {
    use: 'the same of private channels it was invited to',
    lost: 'answers are shared only into those private channels that the settings name',
    optional: true,
  },
} as const satisfies Record<string, Scope>;
