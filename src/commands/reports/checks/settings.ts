import { UserError } from '../../../errors.ts';
import { countOf, formatCount, formatInteger, pluralize } from '../../../views/blocks/format.ts';
import { renderTable } from '../../../views/blocks/table.ts';
import { escapeMrkdwn, truncate } from '../../../views/blocks/text.ts';
import { describeChange, nameChange } from '../../../views/zones/setting-changes.ts';
import type { Look, StoredChange } from '../../zones/history.ts';
import type { AccountReads } from '../accounts/reads.ts';
import type { LookInput, Observation, Part } from '../alerts/conditions/condition.ts';
import {
  createNoneThereError,
  defineCondition,
  type JudgeInput,
  nameZone,
  showZone,
  toNote,
} from './check.ts';
import type { DigestKind } from './digest-kind.ts';

interface SettingsFacts {
  readonly look: Look;
  /** Behind the cursor, the newest first; none at the first reading. */
  readonly changes: readonly StoredChange[];
  readonly total: number;
  /** Rises with every change of a person. Changes stored meanwhile by another reader concern other zones, or are listed. */
  readonly cursor: number;
}

/** Compares settings with the last reading, which records what differs once, and lists what lies behind the cursor. */
async function readSettings(
  account: AccountReads,
  zones: readonly { readonly id: string; readonly name?: string | undefined }[],
  { after, most }: { readonly after: number | undefined; readonly most?: number },
): Promise<SettingsFacts> {
  const chosen = zones.length === 0 ? undefined : zones;
  const look = await account.settings.look(chosen);
  const listed = chosen?.map(({ id }) => id);
  const { changes, total } =
    after === undefined
      ? { changes: [], total: 0 }
      : await account.settings.list({ after, zones: listed, ...(most === undefined ? {} : { most }) });
  return { look, changes, total, cursor: Math.max(after ?? 0, look.cursor, changes[0]?.id ?? 0) };
}

/** The newest change that was told. */
interface Cursor {
  readonly cursor: number;
}

const mostInAlert = 49;

/** A setting of a zone that changed since the last check. */
export const settings = defineCondition({
  name: 'settings',
  label: 'Setting changed',
  words: /setting|\bchange/iu,
  target: 'zones',
  leastEvery: 15,
  damping: { open: [1, 1], close: 2 },
  isEvent: true,
  describe: () => 'a setting of a zone changed',
  async read({ account, subject: { targets }, memory }: LookInput<Cursor>): Promise<SettingsFacts> {
    const { zones } = await account.pullZones.all();
    // The name narrows what the CDN answers, where there is one zone.
    const chosen = targets.map((id) => ({ id, name: zones.find((zone) => zone.id === id)?.name }));
    return readSettings(account, chosen, { after: memory?.cursor });
  },
  judge(
    { look, changes, total, cursor }: SettingsFacts,
    { targets, memory }: JudgeInput<Cursor>,
  ): Observation<Cursor> {
    if (look.zones === 0 && total === 0) {
      if (targets.length > 0) throw createNoneThereError();
      throw new UserError('No settings of zones could be read.', 'Look at the zones themselves.');
    }
    const parts = listParts(changes, total);
    const is = memory ? 'compared with the last check' : 'read: changes are reported from now on';
    const first = memory ? look.first : 0;
    return {
      parts,
      count: total,
      memory: { cursor },
      evidence: [
        ...parts.slice(0, 20).map(({ name, text: is }) => ({ name, is, wrongIf: 'a change', isWrong: true })),
        toNote(pluralize(look.zones, 'zone'), is),
        ...(first > 0 ? [toNote(pluralize(first, 'zone'), 'read for the first time')] : []),
        ...look.missing.slice(0, 5).map((id) => toNote(`zone ${id}`, 'not in the account')),
      ],
    };
  },
  next: (part) => showZone(part, 'zones'),
});

function listParts(changes: readonly StoredChange[], total: number): Part[] {
  const parts = changes.slice(0, mostInAlert).map(
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
    { id: `${last.zoneId}/more/${last.id}`, name: 'Further', text: formatCount(more, 'more change') },
  ];
}

/** One setting that changed, in words: its values are not stored with the digest. */
interface ChangeFigures {
  readonly zoneId: string;
  readonly zone: string;
  readonly setting: string;
  readonly change: string;
  /** When a reading found it, as ISO text. */
  readonly at: string;
}

interface SettingsFigures {
  /** When the digest last reported them, as ISO text; absent in the first run. */
  readonly since?: string | undefined;
  readonly zones: number;
  readonly first: number;
  readonly total: number;
  readonly changes: readonly ChangeFigures[];
  readonly missing: readonly string[];
}

const mostInDigest = 40;

/** What changed in the settings of some zones, or of all, since the digest last told. */
export const settingsDigest: DigestKind<'settings', SettingsFigures, Cursor & { readonly at: string }> = {
  name: 'settings',
  label: 'Changed settings',
  words: /setting|change/iu,
  target: 'zones',
  troubles: 'changed settings',

  async collect({ account, now, targets, baseline }) {
    const chosen = targets.zones.map((id) => ({ id }));
    const most = { after: baseline?.cursor, most: mostInDigest };
    const { look, changes, total, cursor } = await readSettings(account, chosen, most);
    const figures: SettingsFigures = {
      // The first reading of this person although not of the digest: another owner, or another account.
      since: look.first === look.zones && total === 0 ? undefined : baseline?.at,
      zones: look.zones,
      first: look.first,
      total,
      changes: changes.map((change) => ({
        zoneId: change.zoneId,
        zone: truncate(change.zoneName || change.zoneId, 80),
        setting: truncate(nameChange(change), 100),
        change: truncate(describeChange(change), 250),
        at: change.at.toISOString(),
      })),
      missing: look.missing.slice(0, mostInDigest),
    };
    return { figures, baseline: { cursor, at: now.toISOString() } };
  },

  describe(figures) {
    const { since, first, total, changes, missing } = figures;
    const more = total - changes.length;
    const notInAccount = missing.slice(0, 10).map((id) => escapeMrkdwn(id, 20));
    return {
      troubles: total,
      since: [since],
      findings: [...Map.groupBy(changes, ({ zoneId }) => zoneId).values()].map((ofZone) => ({
        weight: 4,
        line: (mostNames) => describeZone(ofZone, mostNames, more > 0),
      })),
      number: describeTotal(figures),
      compared: '',
      detail:
        changes.length === 0 && missing.length === 0
          ? undefined
          : () => ({
              lines: [
                more > 0 && `${formatInteger(more)} more: \`/cdn changes\``,
                since !== undefined && first > 0 && `${pluralize(first, 'zone')} checked for the first time`,
                missing.length > 0 && `Not in the account: ${notInAccount.join(', ')}`,
              ],
              table: renderTable({
                caption: 'Changed settings',
                columns: ['Zone', 'Setting', 'Change', 'Found'],
                rows: changes.map(({ zone, setting, change, at }) => [
                  zone,
                  setting,
                  change,
                  { at: new Date(at) },
                ]),
                total,
              }),
              note: 'A change is found at the next check. Values of keys and tokens are never shown.',
              chart: [],
            }),
    };
  },

  // Until they are posted, changes stay behind the cursor.
  keepUnreported: (before) => before,
};

function describeTotal({ since, zones, total, changes }: SettingsFigures): string {
  const looked = formatCount(zones, 'zone');
  if (since === undefined) return `*Settings* of ${looked}: changes are reported from now on`;
  if (total === 0) return `*Settings* of ${looked}, unchanged`;
  const changed = new Set(changes.map(({ zoneId }) => zoneId)).size;
  const where = changes.length < total ? looked : countOf(changed, zones, 'zone');
  return `*${pluralize(total, 'setting')} changed* in ${where}`;
}

/** The newest changes of a zone: `shop: TLS 1.0 off → on, and 2 more`. */
function describeZone(changes: readonly ChangeFigures[], mostNames: number, isCut: boolean): string {
  const shown = changes.slice(0, Math.max(1, Math.min(mostNames, 3)));
  const words = shown.map(({ setting, change }) => escapeMrkdwn(`${setting} ${change}`, 160));
  const more = changes.length - shown.length;
  const rest = more > 0 ? `, and ${isCut ? 'at least ' : ''}${formatInteger(more)} more` : '';
  return `:pencil2: *${escapeMrkdwn(changes[0]?.zone ?? '', 60)}*: ${words.join(', ')}${rest}`;
}
