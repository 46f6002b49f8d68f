import { formatInteger, pluralize } from '../../../../views/blocks/format.ts';
import { renderTable } from '../../../../views/blocks/table.ts';
import { escapeMrkdwn, truncate } from '../../../../views/blocks/text.ts';
import { describeChange, nameChange } from '../../../../views/zones/setting-changes.ts';
import type { Look, StoredChange } from '../../../zones/history/history.ts';
import type { CollectInput, CollectResult, DigestKind, Finding } from './kind.ts';

/** One setting that changed, in words: what it was is not stored with the digest. */
interface ChangeFigures {
  readonly zoneId: string;
  readonly zone: string;
  readonly setting: string;
  readonly change: string;
  /** ISO text: of the look that found it. */
  readonly at: string;
}

interface SettingsFigures {
  /** When the digest last reported them, as ISO text; absent in the first run. */
  readonly since?: string | undefined;
  readonly zones: number;
  /** Zones of them that were not looked at before. */
  readonly first: number;
  readonly total: number;
  /** The newest first. */
  readonly changes: readonly ChangeFigures[];
  /** Chosen, and not in the account. */
  readonly missing: readonly string[];
}

/** Changes up to this one were posted, by the id that rises with every change of a person. */
interface SettingsBaseline {
  readonly cursor: number;
  /** ISO text. */
  readonly at: string;
}

const mostChanges = 40;

/** What changed in the settings of some zones, or of all, since the digest last told. */
export const settings: DigestKind<'settings', SettingsFigures, SettingsBaseline> = {
  name: 'settings',
  label: 'Changed settings',
  words: /setting|change/iu,
  target: 'zones',
  troubles: 'changed settings',
  collect,
  countTroubles: ({ total }) => total,
  listSince: ({ since }) => [since],
  listFindings,

  renderLine({ since, zones, total, changes }) {
    const looked = pluralize(zones, 'zone');
    if (since === undefined)
      return { number: `*Settings* of ${looked}: changes are told from now on`, compared: '' };
    if (total === 0) return { number: `*Settings* of ${looked}, unchanged`, compared: '' };
    const changed = new Set(changes.map(({ zoneId }) => zoneId)).size;
    const where = changes.length < total ? looked : `${formatInteger(changed)} of ${looked}`;
    return { number: `*${pluralize(total, 'setting')} changed* in ${where}`, compared: '' };
  },

  renderDetail({ total, changes, first, since, missing }) {
    if (changes.length === 0 && missing.length === 0) return undefined;
    const more = total - changes.length;
    return {
      lines: [
        more > 0 && `${formatInteger(more)} more: \`/cdn changes\``,
        since !== undefined && first > 0 && `${pluralize(first, 'zone')} looked at for the first time`,
        missing.length > 0 &&
          `Not in the account: ${missing
            .slice(0, 10)
            .map((id) => escapeMrkdwn(id, 20))
            .join(', ')}`,
      ],
      table: renderTable({
        caption: 'Changed settings',
        columns: ['Zone', 'Setting', 'Change', 'Found'],
        rows: changes.map(({ zone, setting, change, at }) => [zone, setting, change, { at: new Date(at) }]),
        total,
      }),
      note: 'A change is found by the look after it. Values of keys and tokens are never shown.',
      chart: [],
    };
  },

  shrink: (figures) => ({ ...figures, changes: figures.changes.slice(0, 10) }),
  // Until they are posted, changes stay behind the cursor.
  keepUnreported: (before) => before,
};

async function collect({
  cdn,
  now,
  targets,
  baseline,
}: CollectInput<SettingsFigures, SettingsBaseline>): Promise<
  CollectResult<SettingsFigures, SettingsBaseline>
> {
  const zones = targets.zones.length === 0 ? undefined : targets.zones;
  const look: Look = await cdn.settings.look(zones?.map((id) => ({ id })));
  const { changes, total } = baseline
    ? await cdn.settings.list({ after: baseline.cursor, zones, most: mostChanges })
    : { changes: [], total: 0 };
  const figures: SettingsFigures = {
    // The person's first look, though not the digest's: its owner is another one now, or the account.
    since: look.first === look.zones && total === 0 ? undefined : baseline?.at,
    zones: look.zones,
    first: look.first,
    total,
    changes: changes.map(toFigures),
    missing: look.missing.slice(0, mostChanges),
  };
  // What another look found meanwhile is in the list already.
  const cursor = Math.max(baseline?.cursor ?? 0, look.cursor, changes[0]?.id ?? 0);
  return { figures, baseline: { cursor, at: now.toISOString() } };
}

function toFigures(change: StoredChange): ChangeFigures {
  return {
    zoneId: change.zoneId,
    zone: truncate(change.zoneName || change.zoneId, 80),
    setting: truncate(nameChange(change), 100),
    change: truncate(describeChange(change), 250),
    at: change.at.toISOString(),
  };
}

/** A line a zone, with its newest changes: `shop: TLS 1.0 off → on, and 2 more`. */
function listFindings({ changes }: SettingsFigures): Finding[] {
  const byZone = Map.groupBy(changes, ({ zoneId }) => zoneId);
  return [...byZone.values()].map((found): Finding => {
    const zone = found[0]?.zone ?? '';
    return {
      weight: 4,
      about: found,
      line(mostNames) {
        const shown = found.slice(0, Math.max(1, Math.min(mostNames, 3)));
        const words = shown.map(({ setting, change }) => escapeMrkdwn(`${setting} ${change}`, 160));
        const more = found.length - shown.length;
        const rest = more > 0 ? `, and ${formatInteger(more)} more` : '';
        return `:pencil2: *${escapeMrkdwn(zone, 60)}*: ${words.join(', ')}${rest}`;
      },
    };
  });
}
