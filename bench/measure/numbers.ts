/** The middle of the readings; of an even count the upper one of the two. */
export function median(readings: readonly number[]): number {
  return percentile(readings, 50);
}

/** The reading that `share` per cent of them do not exceed (nearest rank). NaN where there are none. */
export function percentile(readings: readonly number[], share: number): number {
  const sorted = readings.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * share) / 100))] ?? Number.NaN;
}

/**
 * Takes `rounds` readings of each subject, one of each in turn (A B C A B C), so that whatever else the machine does
 * meanwhile falls on all of them alike. What came before was a warm-up.
 */
export async function measureInTurns<Name extends string>(
  names: readonly Name[],
  rounds: number,
  read: (name: Name) => Promise<number>,
): Promise<Record<Name, number>> {
  const readings = new Map<Name, number[]>(names.map((name) => [name, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const name of names) readings.get(name)?.push(await read(name));
  }
  return Object.fromEntries([...readings].map(([name, taken]) => [name, median(taken)])) as Record<
    Name,
    number
  >;
}
