import { type Decision, judge, type Policy, step } from './policy.ts';

/** Decides whether exports, digests or shared answers may go into a channel. */
export function decideDestination(
  { exportChannels, postChannels }: Policy,
  subject: 'export' | 'digest' | 'answer',
  channelId: string,
): Decision {
  const named = subject === 'export' ? exportChannels : postChannels;
  const anywhere = named.length === 0;
  const where = anywhere ? 'any channel' : `${named.map((id) => `<#${id}>`).join(', ')} only`;
  return judge(anywhere ? 'any-channel' : 'named-channel', [
    step(
      'destination',
      anywhere || named.includes(channelId),
      `${subject}s may go into ${where}`,
      'other-channel',
    ),
  ]);
}
