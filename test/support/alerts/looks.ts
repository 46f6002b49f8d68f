import type { CdnData } from '../../../simulator/cdn/model.ts';
import type { PullZone } from '../../../simulator/cdn/zone-fields.ts';
import { zone } from '../../../simulator/cdn/zones.ts';
import type { Observation } from '../../../src/commands/reports/checks/check.ts';
import { type ConditionName, evaluate, findCondition } from '../../../src/commands/reports/checks/list.ts';
import { minuteMs, toUtcDay } from '../../../src/lib/time.ts';
import type { Database } from '../../../src/store/database.ts';
import type { ConditionSettings } from '../../../src/views/reports/report.ts';
import { alice, never, startAccounts } from '../../commands/reports/accounts/account-harness.ts';

/** An account whose zones a test makes, and looks at it by conditions. Zones are 1001, 1002, … without errors. */
export async function startLooks(
  database: Database,
  zones: readonly (Partial<PullZone> & { Name: string })[],
) {
  const world = await startAccounts(database, {
    data: { zones: zones.map((members, nth) => zone({ Id: 1001 + nth, ...members })) },
  });
  const { data } = world.simulator;
  data.originErrors.count = 0;
  return {
    ...world,
    data,
    change(id: number, members: Partial<PullZone>): void {
      const at = data.zones.findIndex(({ Id }) => Id === id);
      data.zones[at] = { ...(data.zones[at] as PullZone), ...members };
    },
    remove(id: number): void {
      data.zones = data.zones.filter(({ Id }) => Id !== id);
    },
    /** Entries of a zone's log, so many minutes ago. */
    fail(id: number, many: number, { ago = 1, code = 'http_timeout' } = {}): void {
      addErrors(data, id, { many, code, at: world.now().getTime() - ago * minuteMs });
    },
    /** Entries of today's log whose time nobody can read. */
    failUndated(id: number, many: number): void {
      const at = world.now().getTime();
      addErrors(data, id, { many, code: 'http_timeout', at });
      const entries = data.originErrors.entries.get(`${id}/${toUtcDay(new Date(at))}`) ?? [];
      for (const entry of entries.slice(0, many)) Object.assign(entry, { timestamp: 'just now' });
    },
    /** Returns a function that looks; what the condition remembers goes on as JSON, as it is stored. */
    createLook(name: ConditionName, settings: Partial<ConditionSettings> = {}) {
      const condition = findCondition(name);
      const { threshold, window } = condition;
      const initial = { threshold: threshold?.initial ?? 0, window: window?.initial ?? 0 };
      const subject = { condition, targets: [], ...initial, ...settings };
      let before: { at: Date; memory: unknown } | undefined;
      return async (): Promise<Observation<unknown>> => {
        const account = await world.accounts.open(alice, never);
        const now = world.now();
        const found = await evaluate(subject, {
          account,
          now,
          lookedAt: before?.at,
          memory: before?.memory,
        });
        const memory = found.memory === undefined ? before?.memory : JSON.parse(JSON.stringify(found.memory));
        before = { at: now, memory };
        return found;
      };
    },
  };
}

/** Adds entries of one moment (epoch ms) to a zone's log. */
export function addErrors(
  { originErrors }: Pick<CdnData, 'originErrors'>,
  id: number,
  { many, at, code }: { readonly many: number; readonly at: number; readonly code: string },
): void {
  const key = `${id}/${new Date(at).toISOString().slice(0, 10)}`;
  const before = originErrors.entries.get(key) ?? [];
  const added = Array.from({ length: many }, (_, nth) => ({
    logId: `id-${before.length + nth}-${at}`,
    timestamp: at,
    log: JSON.stringify({ RequestUrl: '/', ErrorCode: code, StatusCode: 502 }),
    labels: { ErrorCode: code, StatusCode: '502', ServerZone: 'DE' },
  }));
  originErrors.entries.set(key, [...added, ...before]);
}

/** `shop: disabled`, the worst first. */
export function listParts({ parts }: Observation<unknown>): string[] {
  return parts.map(({ name, text }) => `${name}: ${text}`);
}

/** `! shop: disabled | disabled or suspended`: wrong ones are marked. */
export function listEvidence({ evidence }: Observation<unknown>): string[] {
  return evidence.map(
    ({ name, is, wrongIf, isWrong }) =>
      `${isWrong ? '! ' : ''}${name}: ${is}${wrongIf ? ` | ${wrongIf}` : ''}`,
  );
}
