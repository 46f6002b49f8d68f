import { tenantId } from '../../auth/identity.ts';
import { assertKnown } from '../../auth/policy/authorizer.ts';
import { decideDestination } from '../../auth/policy/destinations.ts';
import { UserError } from '../../errors.ts';
import type { Message } from '../../views/blocks/blocks.ts';
import { formatCode } from '../../views/blocks/text.ts';
import type { Card } from '../../views/reports/card.ts';
import { describePause, formatPlace } from '../../views/reports/words.ts';
import type { Action, Context, With } from '../define.ts';
import type { Service } from '../services.ts';
import { type Life, undoMinutes } from './life.ts';
import { canBeTakenOver, isChannelReason, type Scheduled } from './model.ts';

interface About<Item extends Scheduled, Needs extends Service> {
  readonly noun: 'digest' | 'alert';
  readonly plural: 'digests' | 'alerts';
  readonly views: Card<Item>;
  readonly life: (
    context: With<Needs>,
  ) => Pick<Life<Item>, 'find' | 'pause' | 'resume' | 'delete' | 'restore' | 'takeOver'>;
  readonly list: (context: With<Needs>) => Promise<readonly Item[]>;
}

/** Answered beside the message, which everybody in the channel shares. Needs no key: the owner's is used. */
export const beside = { needs: 'none', newMessage: true } as const;

/** Verbs of the command and buttons that change who owns a digest or alert, and whether it runs. */
export function createManagement<Item extends Scheduled, Needs extends Service>(about: About<Item, Needs>) {
  type Ctx = With<Needs | 'keyStore' | 'sharing'>;
  const { noun, plural, views, list } = about;
  const lifeOf = about.life as (context: Context) => ReturnType<typeof about.life>;

  /** @throws UserError where there is none with this id, or it was deleted. */
  async function find(id: string, context: Context): Promise<Item> {
    const found = await lifeOf(context).find(tenantId(context.person), id.trim().toLowerCase());
    if (found && !found.deletedAt) return found;
    throw new UserError(
      `There is no ${noun} ${formatCode(id, 20)}${found ? ' any more' : ''}.`,
      `\`/cdn ${noun} list\` shows all.`,
    );
  }

  /** The same, for its owner and admins. */
  async function findManaged(id: string, context: Context): Promise<Item> {
    const item = await find(id, context);
    await requireManager(item, context);
    return item;
  }

  async function requireManager({ owner }: Item, { person, decide }: Context): Promise<void> {
    if (owner.userId === person.userId || assertKnown(await decide('admin')).allowed) return;
    throw new UserError(
      `Only <@${owner.userId}>, who owns this ${noun}, and admins can do that.`,
      `Ask them, or create your own: \`/cdn ${noun} new\``,
    );
  }

  /** @throws UserError where another change came first. */
  function requireChanged(item: Item | undefined): Item {
    if (item) return item;
    throw new UserError(
      `Somebody changed this ${noun} a moment ago, so nothing was changed.`,
      `See \`/cdn ${noun} list\` and try again.`,
    );
  }

  async function pause(id: string, context: Ctx): Promise<Message> {
    const item = await findManaged(id, context);
    if (item.paused) return views.renderPausedByHand(item);
    return views.renderPausedByHand(requireChanged(await lifeOf(context).pause(item, context.person)));
  }

  async function resume(id: string, context: Ctx): Promise<Message> {
    const item = await findManaged(id, context);
    if (!item.paused) return views.renderResumed(item, context.now());
    await requireOwnersKey(item, context);
    // If the channel takes no message, the next run would only pause it again.
    const notice = views.renderUnchanged(item, context.person.userId);
    if (isChannelReason(item.paused.reason) && !(await context.post(item.channel, notice)))
      throw new UserError(
        `I can't post in ${formatPlace(item.channel)}, so the ${noun} ${formatCode(item.id)} stays paused.`,
        `Invite me there (\`/invite @cdn\`) and resume it, or pick another channel: \`/cdn ${noun} edit ${item.id}\``,
      );
    const resumed = requireChanged(await lifeOf(context).resume(item, context.person));
    return views.renderResumed(resumed, context.now());
  }

  async function remove(id: string, context: Ctx): Promise<Message> {
    const item = await findManaged(id, context);
    const deleted = requireChanged(await lifeOf(context).delete(item, context.person));
    return views.renderDeleted(deleted, undoMinutes);
  }

  async function restore(id: string, context: Ctx): Promise<Message> {
    const item = await lifeOf(context).find(tenantId(context.person), id);
    if (item) await requireManager(item, context);
    const restored = item?.deletedAt ? await lifeOf(context).restore(item, context.person) : item;
    if (restored) return views.renderRestored(restored, context.now());
    throw new UserError(
      `The ${noun} ${formatCode(id, 20)} is gone. Deletions can be undone for ${undoMinutes} minutes.`,
      `Create a new one: \`/cdn ${noun} new\``,
    );
  }

  /** Resumes everything of the person's that was paused when the app was removed. */
  async function resumeAll(_value: string, context: Ctx): Promise<Message> {
    const { person } = context;
    const mine = (await list(context)).filter(
      ({ owner, paused }) => owner.userId === person.userId && paused?.reason === 'uninstalled',
    );
    const [first] = mine;
    if (!first)
      throw new UserError(
        `None of your ${plural} is still paused for that reason.`,
        `See \`/cdn ${noun} list\`.`,
      );
    await requireOwnersKey(first, context);
    const resumed: Item[] = [];
    // One that was changed at this moment stays as it is.
    for (const item of mine) resumed.push((await lifeOf(context).resume(item, person)) ?? item);
    return views.renderResumedAll(resumed.filter(({ paused }) => !paused));
  }

  async function takeOver(id: string, context: Ctx): Promise<Message> {
    const { person } = context;
    const item = await find(id, context);
    if (!canBeTakenOver(item)) {
      const { paused, owner } = item;
      throw new UserError(
        paused
          ? `The ${noun} ${formatCode(item.id)} is ${describePause(paused.reason, paused.by)}: only its owner and admins can change that.`
          : `The ${noun} ${formatCode(item.id)} is running again, with the key of <@${owner.userId}>.`,
        `\`/cdn ${noun} list\` shows its state.`,
      );
    }
    const refused = await findChannelRefusal(noun, item.channel, context);
    if (refused !== undefined) throw new UserError(refused, 'An admin can change that with `/cdn settings`.');
    const taken = requireChanged(await lifeOf(context).takeOver(item, person));
    const notice = views.renderTakenOver(taken, person.userId, context.now());
    // Its channel sees it in the place of the notice; pressed elsewhere, the channel is told.
    const isSeen = context.message?.channel === taken.channel || (await context.post(taken.channel, notice));
    return isSeen ? notice : views.renderTakenOverOnly(taken);
  }

  /** It runs with its owner's key, also if an admin resumes it. */
  async function requireOwnersKey({ owner }: Item, { keyStore, person }: With<'keyStore'>): Promise<void> {
    if (await keyStore.describe(owner)) return;
    if (owner.userId === person.userId)
      throw new UserError('You have no CDN key connected.', 'Connect it, then resume.', 'connect');
    throw new UserError(
      `<@${owner.userId}> has no CDN key connected.`,
      'They can connect one, or you edit it and it uses yours.',
    );
  }

  /** Those with `beside` aside, the answer replaces the message that offered the button. */
  const actions: readonly Action<Needs | 'keyStore' | 'sharing'>[] = [
    { id: `${plural}:pause`, ...beside, run: pause },
    { id: `${plural}:resume`, ...beside, run: resume },
    { id: `${plural}:delete`, ...beside, run: remove },
    { id: `${plural}:undo`, needs: 'none', run: restore },
    { id: `${plural}:take-over`, needs: 'read', run: takeOver },
    { id: `${plural}:resume-all`, needs: 'read', run: resumeAll },
  ];
  return {
    find,
    findManaged,
    requireChanged,
    requireOwnersKey,
    verbs: { pause, resume, delete: remove },
    actions,
  };
}

/** Why this person's digest or alert may not go into a channel, in words; undefined = it may. Settings are read again. */
export async function findChannelRefusal(
  noun: 'digest' | 'alert',
  channel: string,
  { authorizer, sharing }: With<'sharing'>,
): Promise<string | undefined> {
  const decision = await authorizer.decide('read', channel, { fresh: true });
  const destination = decideDestination(await authorizer.policy({ fresh: true }), 'digest', channel);
  const failed = [...decision.trace, ...destination.trace].find(({ ok }) => !ok);
  if (!failed && (await sharing.readAudience(channel)) === 'others')
    return `Your ${noun} can't post in ${formatPlace(channel)}: it is shared with another organization.`;
  return failed && `Your ${noun} can't post in ${formatPlace(channel)}: ${failed.says}.`;
}
