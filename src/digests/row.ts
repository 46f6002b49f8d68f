import { z } from 'zod';
import { type Person, tenantId } from '../auth/identity.ts';
import { digestKindNames } from './kinds/list.ts';
import type { Digest, DigestOrder, PauseReason } from './model.ts';
import type { DigestRow } from './queries/digests.ts';

// What is stored was checked when it was ordered; an older version may have stored less.
const ids = z.array(z.string()).default([]);
const body = z.object({
  kinds: z.array(z.enum(digestKindNames)),
  zones: ids,
  shieldZones: ids,
  apps: ids,
  only: z.union([z.enum(['always', 'changed']), z.object({ above: z.number() })]).default('always'),
  time: z.string(),
  zone: z.string(),
  weekdays: z.array(z.number()).default([]),
  monthDays: z.array(z.number()).default([]),
});

export function writeDigestBody({ subject, schedule }: DigestOrder): string {
  const { kinds, targets, only } = subject;
  return JSON.stringify({ kinds, ...targets, only, ...schedule });
}

export function readDigest(row: DigestRow): Digest {
  const { kinds, zones, shieldZones, apps, only, time, zone, weekdays, monthDays } = body.parse(
    JSON.parse(row.body),
  );
  return {
    id: row.id,
    tenant: row.tenant,
    owner: { enterpriseId: row.enterprise_id ?? undefined, teamId: row.team_id, userId: row.owner },
    channel: row.channel,
    subject: { kinds, targets: { zones, shieldZones, apps }, only, timeZone: zone },
    schedule: { time, zone, weekdays, monthDays },
    revision: row.revision,
    paused:
      row.paused === null ? undefined : { reason: row.paused as PauseReason, by: row.paused_by ?? undefined },
    deletedAt: row.deleted_at ?? undefined,
    nextDue: row.next_due ?? undefined,
  };
}

/** The columns that a person's digest is stored in. */
export function ownerColumns(owner: Person): {
  tenant: string;
  enterprise_id: string | null;
  team_id: string;
  owner: string;
} {
  return {
    tenant: tenantId(owner),
    enterprise_id: owner.enterpriseId ?? null,
    team_id: owner.teamId,
    owner: owner.userId,
  };
}
