import { personKey, tenantId } from '../auth/identity.ts';
import { decidePosting } from '../auth/policy/authorizer.ts';
import type { Policy } from '../auth/policy/policy.ts';
import { UserError } from '../errors.ts';
import type { Audience } from '../outbox/slack-port.ts';
import { canBeLifted, describeLift, isPassingCode, readCode, readPlaceCode } from '../outbox/slack-port.ts';
import type { Message } from '../views/blocks/blocks.ts';
import { formatCode } from '../views/blocks/text.ts';
import * as views from '../views/share.ts';
import { type Command, type Context, type Feature, findLast } from './define.ts';
import { assertAllowed, findHelp } from './operations/propose.ts';
import { toWords, type Words } from './words.ts';

/** Where an answer is to be shown: `errors shop in #ops`, `errors shop here`. */
export interface ShareTarget {
  /** An id, or a name with `#`; undefined = where it was typed. */
  readonly channel: string | undefined;
  /** The key of the answer that the person saw. */
  readonly shown: string | undefined;
  readonly file: views.SharedFile | undefined;
  /** Typed again, they mean the same target. */
  readonly words: string;
}

/** Undefined if no target was typed. */
export function splitTarget({
  raw,
  tokens,
}: Words): { readonly words: Words; readonly target: ShareTarget } | undefined {
  const left = [...tokens];
  const takeLast = (shape: RegExp): (string | undefined)[] | undefined => {
    const found = shape.exec(left.at(-1)?.typed ?? '');
    if (found) left.pop();
    return found?.slice(1);
  };
  const [shown] = takeLast(/^shown:(\w{1,20})$/u) ?? [];
  const [typed] = takeLast(/^with:(csv|ndjson)$/iu) ?? [];
  const file = views.sharedFiles.find((one) => one === typed?.toLowerCase());
  const named = takeLast(/^(?:<#([CG][A-Z0-9]+)(?:\|[^<>]*)?>|(#[^\s<>]+))$/u);
  const isNamed = named !== undefined && takeLast(/^(?:in|to)$/iu) !== undefined;
  if (!isNamed && (named !== undefined || takeLast(/^here$/iu) === undefined)) return undefined;
  const channel = named?.find((one) => one !== undefined);
  const written =
    channel === undefined ? 'here' : `in ${channel.startsWith('#') ? channel : `<#${channel}>`}`;
  const again = [written, file && `with:${file}`, shown && `shown:${shown}`].filter(Boolean).join(' ');
  return { words: toWords(raw, left), target: { channel, shown, file, words: again } };
}

export function shareCommand(command: Command, target: ShareTarget): Command {
  const { modal, load: _, ...rest } = command;
  return {
    ...rest,
    showsOthers: true,
    async run(words, context) {
      if (!modal?.(words, context)) return share(command, words, target, context);
      const example = formatCode(`/cdn ${command.examples?.at(-1) ?? command.name} here`);
      throw new UserError('Say what to share, then where.', `Such as ${example}`);
    },
  };
}

export function refuseSharing(command: Command): Command {
  const { modal: _, load: __, ...rest } = command;
  return {
    ...rest,
    run() {
      throw new UserError('This answer is for you only, so it can’t be shared.', 'Leave out the channel.', [
        { label: 'Show it to me', types: command.name },
      ]);
    },
  };
}

async function share(
  command: Command,
  words: Words,
  { channel: wanted, shown, file, words: where }: ShareTarget,
  context: Context,
): Promise<Message> {
  const { sharing, audit, person } = context;
  const to = await findPlace(wanted, context);
  await assertMayPost('answer', to.channel, context);
  const kept = shown === undefined ? undefined : sharing.recall(shown);
  const answer = kept ?? (await findLast(command.run?.(words, context)));
  const same = views.findSharedWords(answer);
  if (same === undefined) return views.renderNotShown(answer, to.channel);

  const { files = [] } = file && command.file ? await findLast(command.file(words, file, context)) : {};
  const outcome = await sharing.post(views.renderSharedCopy(answer, person.userId), {
    ...to,
    files,
    once: shown && `${personKey(person)} ${shown} ${files.length > 0 ? file : ''}`,
  });
  if (outcome !== 'posted' && outcome !== 'post-only')
    throw explainUnposted(outcome, to.channel, `${same} ${where}`);
  await audit.record({
    tenant: tenantId(person),
    actor: person.userId,
    event: 'answer-shared',
    // The rest may be what somebody typed.
    subject: same.split(' ', 2).join(' '),
    detail: { channel: to.channel, file: outcome === 'posted' && files.length > 0 ? file : undefined },
  });
  return views.renderShown(answer, to.channel, outcome === 'post-only');
}

/** @throws UserError for a channel that is not found */
export async function findPlace(
  wanted: string | undefined,
  { channelId, threadTs, sharing }: Context,
): Promise<{ readonly channel: string; readonly threadTs: string | undefined }> {
  if (wanted === undefined) {
    if (views.isSharedPlace(channelId)) return { channel: channelId, threadTs };
    throw new UserError(
      'Answers can’t be shared in a direct message.',
      'Name a channel at the end: `in #ops`, picked from Slack’s list while you type.',
    );
  }
  let channel = wanted.startsWith('#') ? await sharing.findChannel(wanted.slice(1)) : wanted;
  // An id can be typed by anybody.
  if (channel === wanted && channel !== channelId && !(await sharing.isSeen(channel))) channel = undefined;
  if (channel !== undefined) return { channel, threadTs: channel === channelId ? threadTs : undefined };
  throw new UserError(
    `I can’t find the channel ${formatCode(wanted, 82)}.`,
    'Pick it from Slack’s list while you type. I see a private one once I am in it: `/invite @cdn`',
  );
}

/** What is posted where others read, by the settings that name its channels. */
const posted = {
  answer: { what: 'nothing was shared there', named: 'postChannels', setting: 'Answers may be posted to' },
  export: { what: 'no export is posted there', named: 'exportChannels', setting: 'Exports may go to' },
  report: { what: 'nothing was saved', named: 'postChannels', setting: 'Answers may be posted to' },
} as const;
type Posted = Exclude<keyof typeof posted, 'report'>;

/** By the person's right, and by who reads the channel; undefined = their direct messages. @throws UserError */
export async function assertMayPost(
  kind: Posted,
  channel: string | undefined,
  context: Context,
): Promise<void> {
  const { authorizer } = context;
  await assertAllowed(await decidePosting(authorizer, kind, channel), context);
  if (channel !== undefined) await assertReaders(kind, channel, context);
}

/** Also where no right is needed. @throws UserError */
export async function assertReaders(
  kind: keyof typeof posted,
  channel: string,
  context: Context,
): Promise<void> {
  const { authorizer, sharing } = context;
  const audience = await sharing.readAudience(channel);
  try {
    assertOwnAudience(kind, channel, audience, await authorizer.policy());
  } catch (error) {
    if (!(error instanceof UserError) || typeof audience === 'string' || !isForSettings(audience.unknown))
      throw error;
    const { hint, offer } = await findHelp(context);
    throw new UserError(error.message, `${error.hint} ${hint}`, offer);
  }
}

/** Whether the settings help, where they name the channel. */
function isForSettings(code: string): boolean {
  return code === 'missing_scope' || !(isPassingCode(code) || canBeLifted(code));
}

/** Only people of this organization may read the channel, as far as Slack says it or an admin named it. @throws UserError */
export function assertOwnAudience(
  kind: keyof typeof posted,
  channel: string,
  audience: Audience,
  policy: Policy,
): void {
  const { what, named, setting } = posted[kind];
  if (audience === 'own') return;
  if (audience === 'others')
    throw new UserError(
      `<#${channel}> is shared with another organization, so ${what}.`,
      'Choose a channel in your own organization.',
    );
  if (policy[named].includes(channel)) return;
  throw new UserError(
    `I cannot see who reads <#${channel}>, so ${what}.`,
    describeUnseen(audience.unknown, setting),
  );
}

function describeUnseen(code: string, setting: string): string {
  if (code === 'missing_scope')
    return `An admin can name the channel under *${setting}* in \`/cdn settings\`, or install the app again with the scopes \`channels:read\` and \`groups:read\`.`;
  if (isPassingCode(code)) return 'Slack can’t say right now: try again in a minute.';
  return canBeLifted(code)
    ? describeLift(code)
    : 'Invite me there (`/invite @cdn`) and try again. An admin can also name it in `/cdn settings`.';
}

function explainUnposted(
  outcome: Exclude<views.ShareOutcome, 'posted' | 'post-only'>,
  channel: string,
  typed: string,
): UserError {
  if (outcome === 'repeated')
    return new UserError(`This is in <#${channel}> already, or on its way.`, 'It is posted only once.');
  if (outcome === 'unknown')
    return new UserError(
      `Slack did not confirm it, so this may or may not be in <#${channel}>.`,
      'Check there before you share it again.',
    );
  const { refused } = outcome;
  const again = [{ label: 'Share again', types: typed }];
  if (readCode(refused) === 'pass')
    return new UserError('Slack is rate limiting, so nothing was shared.', 'Share again in a minute.');
  if (canBeLifted(refused))
    return new UserError(
      `Slack does not allow it (${formatCode(refused, 60)}).`,
      describeLift(refused),
      again,
    );
  const place = readPlaceCode(refused);
  if (place === 'archived') return new UserError(`<#${channel}> is archived.`, 'Share in another channel.');
  return new UserError(
    place ? `I am not in <#${channel}>.` : `Slack refused it (${formatCode(refused, 60)}).`,
    place ? 'Type `/invite @cdn` there, then share again.' : 'Nothing was shared.',
    again,
  );
}

/** Right, key and refusals are those of the typed command. */
const runsTyped = { needs: 'none', runsCommand: true, newMessage: false } as const;

export const sharing: Feature = {
  name: 'share',
  commands: [],
  actions: [
    { id: 'share:post', ...runsTyped },
    { id: 'share:to', ...runsTyped, toCommand: views.readSharePick },
  ],
};
