/** The method that digests are posted with; its lane paces a whole workspace. */
export const postMethod = 'chat.postMessage';

/**
 * How long one post closes its channel, and the method for its workspace: Slack takes one message a second in a
 * channel and "several hundred" a minute in a workspace (slack.md §6).
 */
export const channelIntervalMs = 1_000;
export const methodIntervalMs = 150;
/** What a slow moment of this process may delay is sent a little closer together afterwards, within the same minute. */
export const methodCatchUpMs = 1_000;
