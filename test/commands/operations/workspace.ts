import { type Bot, type BotOptions, connect, startBot } from '../../support/bot.ts';
import { alice, bob, carol, dave, deploys, ops } from '../../support/people.ts';
import { configure } from '../../support/settings.ts';

export { alice, bob, carol, configure, dave, deploys, ops };

export type Member = ReturnType<Bot['slack']['as']>;

/** A volume of the simulated CDN whose instances are detached, and one that is attached. */
export interface Volumes {
  readonly appId: string;
  readonly volumeId: string;
}

export type ApprovalWorkspace = Awaited<ReturnType<typeof startApprovalWorkspace>>;

/** A bot whose admin, Carol, has named an operator with a key, Alice, two approvers, Bob and Dave, and #deploys for approvals. */
export async function startApprovalWorkspace(
  options: BotOptions & { readonly settings?: Record<string, unknown> } = {},
) {
  // Less than a step of a workflow may take: what is due by the bot's clock is due by the queue's at once.
  let behindMs = 9 * 60_000;
  const bot = await startBot({
    zones: 12,
    now: () => new Date(Date.now() - behindMs),
    ...options,
    env: { ADMIN_USER_IDS: carol, ...options.env },
  });
  // With two admins, each would have to confirm some changes of the other.
  for (const record of bot.slack.world.people)
    if (record.id === alice) Object.assign(record, { admin: false });
  const person = (id: string) => bot.slack.as(id);
  const team = { alice: person(alice), bob: person(bob), carol: person(carol), dave: person(dave) };
  await connect(bot, alice, ops);
  await configure(team.carol, {
    operators: [alice],
    approvers: [bob, dave],
    approvalChannel: deploys,
    ...options.settings,
  });
  let volumes = 0;
  return {
    bot,
    ...team,
    /** Lets time pass by the bot's clock: edits of a workspace are shown one a second, after some at once. */
    rest(): void {
      behindMs = Math.max(0, behindMs - 20_000);
    },
    /** Puts a volume with two instances into the CDN. */
    addVolume({ attached = false } = {}): Volumes {
      const app = bot.cdn.data.apps[0];
      if (!app) throw new Error('the CDN has no app');
      volumes += 1;
      const volumeId = `data-${volumes}`;
      app.volumes[volumeId] = [
        { id: `${volumeId}-1`, detached: !attached },
        { id: `${volumeId}-2`, detached: true },
      ];
      return { appId: app.id, volumeId };
    },
  };
}

export const reason = 'The node is gone';

/** Asks for a deletion the way people do, to the end of the form. */
export async function requestDeletion(
  { alice }: ApprovalWorkspace,
  { appId, volumeId }: Volumes,
): Promise<void> {
  await alice.slash(`volume delete ${appId} ${volumeId}`);
  await alice.waitForModal('volumes:submit');
  const { errors } = await alice.submit({ confirmVolumeId: volumeId, reason });
  if (errors) throw new Error(JSON.stringify(errors));
  await alice.waitForModal(/Requested:/);
  await alice.closeModal();
}

/** How often the CDN was asked to delete it. */
export function countDeleteRequests({ bot }: ApprovalWorkspace, volumeId: string): number {
  return bot.cdn.requests.filter(
    ({ method, path }) => method === 'DELETE' && path.endsWith(`/volumes/${volumeId}`),
  ).length;
}
