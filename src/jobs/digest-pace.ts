/** The method that digests are posted with; its lane paces a whole workspace. */
export const postMethod = 'chat.postMessage';

/**
 * How long one post closes its channel, and the method for its workspace: Slack takes one message a second in a
 * channel and "several hundred" a minute in a workspace (slack.md §6).
 */
export const channelMs = 1_000;
export const methodMs = 150;
