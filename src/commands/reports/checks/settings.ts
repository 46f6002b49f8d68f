import { UserError } from '../../../errors.ts';
import { countOf, formatCount, formatInteger, pluralize } from '../../../views/blocks/format.ts';
import { escapeMrkdwn, join, truncate } from '../../../views/blocks/text.ts';
import { describeUnread } from '../../../views/zones/changes.ts';
import { describeChange, nameChange } from '../../../views/zones/settings.ts';
import type { StoredChange } from '../../zones/history.ts';
import type { AccountReads } from '../accounts.ts';
import {
  type CheckInput,
  createNoneThereError,
  type DigestKind,
  defineCondition,
  listMissing,
  nameZone,
  observe,
  showZone,
  toFact,
  toNote,
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
  words: /setting|\bchange|\bconfig/iu,
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
      if (targets.length > 0 || look.skipped > 0) throw createNoneThereError(look.skipped);
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
        ...(look.partial > 0 ? [toNote(pluralize(look.partial, 'zone'), 'some settings not readable')] : []),
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

export const settingsDigest: DigestKind<'settings', never, DigestCursor> = {
  name: 'settings',
  label: 'Changed settings',
  words: settings.words,
  target: 'zones',
  troubles: 'changed settings',

  async collect({ account, now, targets, baseline }) {
    const chosen = targets.zones.map((id) => ({ id }));
    const { look, changes, total, cursor } = await readSettings(account, chosen, baseline?.cursor);
    if (look.zones === 0 && total === 0 && look.skipped > 0) throw createNoneThereError(look.skipped);
    // The first reading of this person although not of the digest: another owner, or another account.
    const since = look.first === look.zones && total === 0 ? undefined : baseline?.at;
    const missing = look.missing.slice(0, 10).map((id) => escapeMrkdwn(id, 20));
    const isEmpty = changes.length === 0 && missing.length === 0;
    const first =
      since !== undefined && look.first > 0 && `${pluralize(look.first, 'zone')} checked for the first time`;
    return {
      section: {
        troubles: total,
        since: [since],
        findings: [...Map.groupBy(changes, ({ zoneId }) => zoneId).values()].map((ofZone) => ({
          weight: 4,
          text: describeZone(ofZone, total > changes.length),
        })),
        number: join(
          [
            describeTotal(changes, { since, zones: look.zones, total }),
            isEmpty && first,
            describeUnread(look),
          ],
          ' · ',
        ),
        compared: '',
        detail: isEmpty
          ? undefined
          : {
              lines: [first, missing.length > 0 && `Not in the account: ${missing.join(', ')}`],
              rows: {
                // In words: values are not stored with the digest.
                rows: changes.map((change) => [
                  nameOf(change),
                  truncate(nameChange(change), 100),
                  truncate(describeChange(change), 250),
                  { at: change.at.toISOString() },
                ]),
                total,
              },
              note: 'A change is found at the next check. Values of keys and tokens are never shown. `/cdn changes` lists all.',
            },
      },
      baseline: { cursor, at: now.toISOString() },
    };
  },
};

function nameOf({ zoneName, zoneId }: StoredChange): string {
  return truncate(zoneName || zoneId, 80);
}

function describeTotal(
  changes: readonly StoredChange[],
  {
    since,
    zones,
    total,
  }: { readonly since: string | undefined; readonly zones: number; readonly total: number },
): string {
  const looked = formatCount(zones, 'zone');
  if (since === undefined) return `*Settings* of ${looked}: changes are reported from now on`;
  if (total === 0) return `*Settings* of ${looked}, unchanged`;
  const changed = new Set(changes.map(({ zoneId }) => zoneId)).size;
  const where = changes.length < total ? looked : countOf(changed, zones, 'zone');
  return `*${pluralize(total, 'setting')} changed* in ${where}`;
}

const mostShown = 3;

/** The newest changes of a zone: `shop: TLS 1.0 off → on, and 2 more`. */
function describeZone(changes: readonly StoredChange[], isCut: boolean): string {
  const words = changes.slice(0, mostShown).map((change) => {
    const text = `${truncate(nameChange(change), 100)} ${truncate(describeChange(change), 250)}`;
    return escapeMrkdwn(text, 160);
  });
  const more = changes.length - words.length;
  const rest = more > 0 ? `, and ${isCut ? 'at least ' : ''}${formatInteger(more)} more` : '';
  const [first] = changes;
  return `:pencil2: *${escapeMrkdwn(first ? nameOf(first) : '', 60)}*: ${words.join(', ')}${rest}`;
}
