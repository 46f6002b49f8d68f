/** What the bot asks a workspace for; the manifest says the same, and a test holds them equal. */
export const scopes = [
  'commands', // the slash command
  'chat:write', // answers where a response_url has ended, and direct messages
  'files:write', // charts and files
  'im:write', // the conversation with a person that private files go to
  'channels:history', // optional: whether a digest or export whose answer got lost is in its channel
  'groups:history', // optional: the same in private channels
  'metadata.message:read', // optional: by which mark it is found there
  'users:read', // optional: who is a workspace admin, and that somebody was deactivated
  'usergroups:read', // optional: who is in the user groups that settings name
] as const;
