import { UserError } from '../../../errors.ts';
import { countOf, formatCount, formatInteger, pluralize } from '../../../views/blocks/format.ts';
import { renderLines } from '../../../views/blocks/table.ts';
import { escapeMrkdwn, truncate } from '../../../views/blocks/text.ts';
import { describeChange, nameChange } from '../../../views/zones/settings.ts';
import type { StoredChange } from '../../zones/history.ts';
import type { AccountReads } from '../accounts/reads.ts';
import {
  type CheckInput,
  type CollectInput,
  createNoneThereError,
  type DigestKind,
  defineCondition,
  listMissing,
  nameZone,
  observe,
  showZone,
  toFact,
} from './check.ts';

const mostListed = 49;

/** Records what differs from the last reading, and lists what lies behind the cursor, the newest first; none at first. */
async function readSettings(
  account: AccountReads,
  zones: readonly { readonly id: string; readonly name?: string | undefined }[],
  after: number | undefined,
) {
  const chosen = zones.length === 0 ? undefined : zones;
  const look = await account.settings.look(chosen);
  const query = { zones: chosen?.map(({ id }) => id), most: mostListed };
  const none = { changes: [] as readonly StoredChange[], total: 0 };
  const { changes, total } = after === undefined ? none : await account.settings.list({ ...query, after });
  return { look, changes, total, cursor: Math.max(after ?? 0, look.cursor, changes[0]?.id ?? 0) };
}

interface Cursor {
  readonly cursor: number;
}

export const settings = defineCondition({
  name: 'settings',
  label: 'Setting changed',
  words: /setting|\bchange/iu,
  target: 'zones',
  leastEvery: 15,
  damping: { open: [1, 1], close: 2 },
  isEvent: true,
  describe: () => 'a setting of a zone changed',
  async check({ account, targets, memory }: CheckInput<Cursor>) {
    const { zones } = await account.pullZones.all();
    const chosen = targets.map((id) => ({ id, name: zones.find((zone) => zone.id === id)?.name }));
    const { look, changes, total, cursor } = await readSettings(account, chosen, memory?.cursor);
    if (look.zones === 0 && total === 0) {
      if (targets.length > 0) throw createNoneThereError();
      throw new UserError('No settings of zones could be read.', 'Check the zones themselves.');
    }
    const is = memory ? 'compared with the last check' : 'read: changes are reported from now on';
    const first = memory ? look.first : 0;
    const judged = listParts(changes, total).map((part) => ({
      ...part,
      wrongIf: 'a change',
      isWrong: true,
    }));
    return observe<Cursor>(judged, {
      memory: { cursor },
      notes: [
        toFact(pluralize(look.zones, 'zone'), is),
        ...(first > 0 ? [toFact(pluralize(first, 'zone'), 'read for the first time')] : []),
        ...listMissing(look.missing, look.skipped),
      ],
    });
  },
  next: (part) => showZone(part, 'zones'),
});

function listParts(changes: readonly StoredChange[], total: number) {
  const parts = changes.map((change) => ({
    id: `${change.zoneId}/${change.id}`,
    name: nameZone({ id: change.zoneId, name: change.zoneName }),
    is: truncate(`${nameChange(change)}: ${describeChange(change)}`, 200),
  }));
  const [last] = changes;
  const more = total - parts.length;
  if (more <= 0 || !last) return parts;
  const is = formatCount(more, 'more change');
  return [...parts, { id: `${last.zoneId}/more/${last.id}`, name: 'Further', is }];
}

/** `at`: when the digest last reported, as ISO text. */
type DigestCursor = Cursor & { readonly at: string };

type SettingsFigures = Awaited<ReturnType<typeof collectSettings>>['figures'];
type ChangeFigures = SettingsFigures['changes'][number];

export const settingsDigest: DigestKind<'settings', SettingsFigures, DigestCursor> = {
  name: 'settings',
  label: 'Changed settings',
  words: /setting|change/iu,
  target: 'zones',
  troubles: 'changed settings',

  collect: collectSettings,

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
                since !== undefined && first > 0 && `${pluralize(first, 'zone')} checked for the first time`,
                missing.length > 0 && `Not in the account: ${notInAccount.join(', ')}`,
              ],
              table: renderLines({
                rows: changes.map(({ zone, setting, change, at }) => [
                  zone,
                  setting,
                  change,
                  { at: new Date(at) },
                ]),
                total,
              }).picture,
              note: 'A change is found at the next check. Values of keys and tokens are never shown. `/cdn changes` lists all.',
              chart: [],
            }),
    };
  },
};

async function collectSettings({ account, now, targets, baseline }: CollectInput<unknown, DigestCursor>) {
  const chosen = targets.zones.map((id) => ({ id }));
  const { look, changes, total, cursor } = await readSettings(account, chosen, baseline?.cursor);
  const figures = {
    // The first reading of this person although not of the digest: another owner, or another account.
    since: look.first === look.zones && total === 0 ? undefined : baseline?.at,
    zones: look.zones,
    first: look.first,
    total,
    // In words: values are not stored with the digest.
    changes: changes.map((change) => ({
      zoneId: change.zoneId,
      zone: truncate(change.zoneName || change.zoneId, 80),
      setting: truncate(nameChange(change), 100),
      change: truncate(describeChange(change), 250),
      at: change.at.toISOString(),
    })),
    missing: look.missing.slice(0, mostListed),
  };
  return { figures, baseline: { cursor, at: now.toISOString() } };
}

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
