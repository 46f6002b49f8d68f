import { tenantId } from '../../auth/identity.ts';
import type { ChannelZone } from '../../auth/names.ts';
import { computeRights } from '../../auth/policy/policy.ts';
import { UserError } from '../../errors.ts';
import type { Message } from '../../views/blocks/blocks.ts';
import { renderChannelZone } from '../../views/names.ts';
import { renderUnclearZone } from '../../views/zones/rows.ts';
import type { Command, Context } from '../define.ts';
import { lookUpZone } from '../zones/lookup.ts';

/** The zone that `/cdn errors` means in a channel: admins and operators set it, everybody sees it. */
export const hereCommand: Command = {
  name: 'here',
  aliases: ['channel'],
  usage: 'here [zone <zone>|none]',
  summary: 'Zone of this channel: `/cdn errors` alone shows its errors here',
  examples: ['here', 'here zone shop', 'here none'],
  needs: 'read',
  async run({ list }, context) {
    const channel = readChannel(context);
    const words = list[0]?.toLowerCase() === 'zone' ? list.slice(1) : list;
    const typed = words.join(' ').trim();
    if (typed === '') {
      const [zone, canSet] = await Promise.all([findChannelZone(context), isAllowedToSet(context)]);
      return renderChannelZone(channel, zone, { canSet });
    }
    if (!(await isAllowedToSet(context)))
      throw new UserError(
        'Only admins and operators may set the zone of a channel.',
        '`/cdn whoami` says what you may do; `/cdn errors shop` shows any zone.',
      );
    return setZone(channel, ['none', 'remove', 'clear'].includes(typed.toLowerCase()) ? '' : typed, context);
  },
};

export async function findChannelZone({
  names,
  person,
  channelId,
}: Context): Promise<ChannelZone | undefined> {
  return isChannel(channelId) ? names.channelZone(tenantId(person), channelId) : undefined;
}

function isChannel(channelId: string | undefined): channelId is string {
  return channelId !== undefined && /^[CG]/u.test(channelId);
}

function readChannel({ channelId }: Context): string {
  if (isChannel(channelId)) return channelId;
  throw new UserError('This is not a channel.', 'Type it in the channel itself.');
}

/** Asked afresh, since everybody in the channel sees the change. */
async function isAllowedToSet({ authorizer, channelId }: Context): Promise<boolean> {
  const actor = await authorizer.actor({ fresh: true });
  const { operator, admin } = computeRights(await authorizer.policy({ fresh: true }), actor, channelId);
  return operator || admin;
}

async function setZone(channel: string, typed: string, context: Context): Promise<Message> {
  const { names, person } = context;
  if (typed === '') {
    await names.setChannelZone(person, channel, undefined);
    return renderChannelZone(channel, undefined, { canSet: true, isChanged: true });
  }
  const found = await lookUpZone(typed, context);
  if (found.kind !== 'one') return renderUnclearZone(found, 'here zone');
  const { id, name } = found.zone;
  await names.setChannelZone(person, channel, { id, name });
  return renderChannelZone(channel, { id, name, by: person.userId }, { canSet: true, isChanged: true });
}
