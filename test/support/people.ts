// People and channels of the simulated workspace; Alice is an admin by Slack.
export const alice = 'U0ALICE00';
export const bob = 'U0BOB0000';
export const carol = 'U0CAROL00';
export const dave = 'U0DAVE000';
/** Of another organization, in a channel that is shared with it. */
export const eve = 'U0EVE0000';
export const ops = 'C0OPS0000';
export const deploys = 'C0DEPLOY0';
export const random = 'C0RANDOM0';
/** With another organization. */
export const shared = 'C0SHARED0';
