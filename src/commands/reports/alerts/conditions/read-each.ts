import { ApiError } from '../../../../api/http/errors.ts';
import { runConcurrently } from '../../../../lib/concurrency.ts';
import { BudgetSpent } from '../../accounts/budget.ts';

/** Reads at the same time of one look: the log of a day is up to hundreds of megabytes. */
const readsAtOnce = 4;

export interface Unread<Item> {
  readonly item: Item;
  /** Plain text: `not read: the CDN did not answer`. */
  readonly why: string;
}

/**
 * Reads each, a few at once; one that fails does not hide the others.
 *
 * @throws the failure where all failed, and a refused key or an error of the bot at once.
 */
export async function readEach<Item, Value>(
  items: readonly Item[],
  read: (item: Item) => Promise<Value>,
): Promise<{ readonly read: { item: Item; value: Value }[]; readonly unread: Unread<Item>[] }> {
  const settled = await runConcurrently(
    readsAtOnce,
    items.map((item) => async () => ({ item, value: await read(item) })),
  );
  const values = settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  const unread = settled.flatMap((one, nth): Unread<Item>[] => {
    if (one.status === 'fulfilled') return [];
    const why = describeUnread(one.reason);
    if (why === undefined || values.length === 0) throw one.reason;
    return [{ item: items[nth] as Item, why }];
  });
  return { read: values, unread };
}

/** Why one of several could not be read; undefined for a failure that concerns all. */
function describeUnread(error: unknown): string | undefined {
  if (error instanceof BudgetSpent) return 'not read: no requests are left in this hour';
  if (!(error instanceof ApiError) || error.code === 'key_refused') return undefined;
  if (error.code === 'cancelled') return 'not read: the look took too long';
  if (error.code === 'not_found') return 'not there, or the key does not see it';
  return error.code === 'refused' ? 'not read: the CDN refused' : 'not read: the CDN did not answer';
}
