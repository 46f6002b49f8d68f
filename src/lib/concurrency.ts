/** Runs tasks, `most` of them at once, and waits for all. The results are in the order of the tasks. */
export async function runConcurrently<T>(
  most: number,
  tasks: readonly (() => Promise<T>)[],
): Promise<PromiseSettledResult<T>[]> {
  const results: PromiseSettledResult<T>[] = [];
  let next = 0;
  const work = async (): Promise<void> => {
    for (let index = next; index < tasks.length; index = next) {
      next += 1;
      const task = tasks[index];
      if (!task) return;
      try {
        results[index] = { status: 'fulfilled', value: await task() };
      } catch (reason) {
        results[index] = { status: 'rejected', reason };
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(most, tasks.length) }, work));
  return results;
}
