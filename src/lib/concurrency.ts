/** `Promise.all` over the items, `most` of them at once. */
export async function mapConcurrently<Item, Result>(
  most: number,
  items: readonly Item[],
  map: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const rest = items.entries();
  const work = async (): Promise<void> => {
    for (const [index, item] of rest) results[index] = await map(item);
  };
  await Promise.all(Array.from({ length: most }, work));
  return results;
}

/** `Promise.allSettled` of the tasks, `most` of them at once. */
export function runConcurrently<T>(
  most: number,
  tasks: readonly (() => Promise<T>)[],
): Promise<PromiseSettledResult<T>[]> {
  return mapConcurrently(most, tasks, async (task) => {
    const [result] = await Promise.allSettled([task()]);
    return result;
  });
}
