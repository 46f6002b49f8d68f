import { tenantId } from '../../../auth/identity.ts';
import { UserError } from '../../../errors.ts';
import { minuteMs } from '../../../lib/time.ts';
import type { Message } from '../../../views/blocks/blocks.ts';
import { formatCode } from '../../../views/blocks/text.ts';
import { describePause } from '../../../views/reports/schedules/words.ts';
import * as views from '../../../views/reports/watches/answers.ts';
import { watchCustody } from '../../../views/reports/watches/custody.ts';
import { renderWhy } from '../../../views/reports/watches/why.ts';
import type { Action, With } from '../../define.ts';
import { beside, createManagement } from '../schedules/manage.ts';
import type { Incident, Watch } from './model.ts';

type WatchesContext = With<'watches' | 'keyStore'>;

export const management = createManagement<Watch, 'watches'>({
  noun: 'watch',
  plural: 'watches',
  views: watchCustody,
  custody: ({ watches }) => watches,
  list: ({ watches, person }) => watches.list(tenantId(person)),
});

/** Actions of an owner or admin on one watch, for the words of the command, the menu and the buttons. */
export const verbs = { look, why, snooze, ...management.verbs } as const;

async function look(id: string, context: WatchesContext): Promise<Message> {
  const watch = await management.findManaged(id, context);
  if (watch.paused)
    throw new UserError(
      `The watch ${formatCode(watch.id)} is paused: ${describePause(watch.paused.reason, watch.paused.by)}.`,
      `It looks again after \`/cdn watch resume ${watch.id}\``,
    );
  await management.requireOwnersKey(watch, context);
  await context.watches.lookNow(watch);
  return views.renderLooking(watch);
}

/** The figures behind its decision. They are read with the owner's key and were shown to its channel: its readers may. */
async function why(id: string, context: WatchesContext): Promise<Message> {
  const watch = await management.find(id, context);
  const isHere = context.channelId === watch.channel || watch.owner.userId === context.person.userId;
  if (!isHere) await management.findManaged(id, context);
  return renderWhy(watch, await context.watches.listIncidents(watch.id), context.now());
}

const longestSnoozeMinutes = 7 * 24 * 60;

/** Keeps a watch quiet for so many minutes; 0 = it speaks again. */
async function snooze(id: string, context: WatchesContext, typed = '1h'): Promise<Message> {
  const watch = await management.find(id, context);
  const isHere = context.channelId === watch.channel;
  // Whoever is on call may, where its messages are read.
  if (!isHere) await management.findManaged(id, context);
  const minutes = readMinutes(typed);
  if (minutes === undefined || minutes > longestSnoozeMinutes)
    throw new UserError(
      `${formatCode(typed, 20)} is no time to be quiet for.`,
      `At most seven days: \`/cdn watch snooze ${watch.id} 2h\`, \`30m\`, \`1d\``,
    );
  const until = minutes === 0 ? undefined : new Date(context.now().getTime() + minutes * minuteMs);
  const snoozed = management.requireChanged(await context.watches.snooze(watch, until, context.person));
  return views.renderSnoozed(snoozed);
}

/** `2h`, `30m`, `1d`, or minutes. */
function readMinutes(typed: string): number | undefined {
  const [, count, unit = 'm'] = /^(\d{1,5})\s*([mhd])?$/iu.exec(typed.trim()) ?? [];
  const sizes: Readonly<Record<string, number>> = { m: 1, h: 60, d: 24 * 60 };
  return count === undefined ? undefined : Number(count) * (sizes[unit.toLowerCase()] ?? 1);
}

async function snoozeByValue(value: string, context: WatchesContext): Promise<Message> {
  const [id = '', minutes = ''] = value.split('|');
  return snooze(id, context, minutes);
}

/** Says in the incident's message who is on it. */
async function acknowledge(incidentId: string, context: WatchesContext): Promise<Message> {
  const { watches, person } = context;
  const incident = await watches.findIncident(incidentId);
  const watch = incident && (await watches.find(tenantId(person), incident.watchId));
  if (!incident || !watch) throw gone();
  const acknowledged = incident.closedAt ? undefined : await watches.acknowledge(incident, watch, person);
  if (acknowledged) return views.renderAcknowledged(acknowledged);
  const now = (await watches.findIncident(incidentId)) ?? incident;
  return views.renderNotAcknowledged(now satisfies Incident, watch);
}

function gone(): UserError {
  return new UserError(
    'This incident is not kept any more, or its watch was deleted.',
    '`/cdn watch list` shows all.',
  );
}

export const watchActions: readonly Action<'watches' | 'keyStore'>[] = [
  { id: 'watches:look', ...beside, run: look },
  { id: 'watches:why', ...beside, run: why },
  { id: 'watches:snooze', ...beside, run: snoozeByValue },
  { id: 'watches:acknowledge', ...beside, run: acknowledge },
  ...management.actions,
];
