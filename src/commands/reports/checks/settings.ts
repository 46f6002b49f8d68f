import { UserError } from '../../../errors.ts';
import { formatInteger, pluralize } from '../../../views/blocks/format.ts';
import { truncate } from '../../../views/blocks/text.ts';
import { describeChange, nameChange } from '../../../views/zones/setting-changes.ts';
import type { StoredChange } from '../../zones/history/history.ts';
import type { Condition, Part } from '../alerts/conditions/condition.ts';
import { createNoneThereError, nameZone, showZone, toNote } from './check.ts';

/** The newest change that was told: rises with every change of a person. */
interface Cursor {
  readonly cursor: number;
}

/** Changes of one look that have a line of their own. */
const mostChanges = 49;

/** A setting of a zone that changed since the last look. */
export const settings: Condition<'settings', Cursor> = {
  name: 'settings',
  label: 'Setting changed',
  words: /setting|\bchange/iu,
  target: 'zones',
  leastEvery: 15,
  damping: { open: [1, 1], close: 2 },
  isEvent: true,
  describe: () => 'a setting of a zone changed',
  async evaluate({ account, subject: { targets }, memory }) {
    const { zones } = await account.pullZones.all();
    const names = new Map(zones.map((zone) => [zone.id, zone]));
    // The name narrows what the CDN answers, where there is one zone.
    const chosen = targets.map((id) => ({ id, name: names.get(id)?.name }));
    const look = await account.settings.look(targets.length === 0 ? undefined : chosen);
    const first = memory === undefined;
    const found = first
      ? { changes: [], total: 0 }
      : await account.settings.list({
          after: memory.cursor,
          zones: targets.length === 0 ? undefined : targets,
        });
    const { changes, total } = found;
    if (look.zones === 0 && total === 0) {
      if (targets.length > 0) throw createNoneThereError();
      throw new UserError('No settings of zones could be read.', 'Look at the zones themselves.');
    }
    const cursor = Math.max(memory?.cursor ?? 0, look.cursor, ...changes.map(({ id }) => id));
    const parts = listParts(changes, total);
    return {
      parts,
      count: total,
      // What another look stored meanwhile, of zones that are not read here, stays behind the cursor or is none of ours.
      memory: { cursor },
      evidence: [
        ...parts.slice(0, 20).map(({ name, text: is }) => ({ name, is, wrongIf: 'a change', isWrong: true })),
        toNote(
          pluralize(look.zones, 'zone'),
          first ? 'read: changes are told from now on' : 'compared with the last look',
        ),
        ...(look.first > 0 && !first
          ? [toNote(pluralize(look.first, 'zone'), 'read for the first time')]
          : []),
        ...look.missing.slice(0, 5).map((id) => toNote(`zone ${id}`, 'not in the account')),
      ],
    };
  },
  next: (part) => showZone(part, 'zones'),
};

/** The newest change first. */
function listParts(changes: readonly StoredChange[], total: number): Part[] {
  const parts = changes.slice(0, mostChanges).map(
    (change): Part => ({
      id: `${change.zoneId}/${change.id}`,
      name: nameZone({ id: change.zoneId, name: change.zoneName }),
      text: truncate(`${nameChange(change)}: ${describeChange(change)}`, 200),
    }),
  );
  const [last] = changes;
  const more = total - parts.length;
  if (more <= 0 || !last) return parts;
  return [
    ...parts,
    { id: `${last.zoneId}/more/${last.id}`, name: 'Further', text: `${formatInteger(more)} more changes` },
  ];
}
