import type { AppSummary } from '../../../../../api/apps.ts';
import { UserError } from '../../../../../errors.ts';
import { truncate } from '../../../../../views/blocks/text.ts';
import type { Evidence, LookInput, Observation, Part } from '../condition.ts';
import { readEach } from '../read-each.ts';

/** Each is a request. */
const mostApps = 25;

export interface AppFigure {
  /** Of the part and of *Why*: `failing`. */
  readonly text: string;
  readonly wrongIf: string;
  /** Undefined: the CDN did not report it. */
  readonly isWrong: boolean | undefined;
  readonly value?: number | undefined;
}

/** The CDN has no list of apps: those that zones are linked to. */
async function findApps(account: LookInput<never>['account']): Promise<ReadonlySet<string>> {
  const { zones } = await account.pullZones.all();
  const ids = new Set(zones.flatMap(({ appId }) => appId ?? []));
  if (ids.size === 0) throw new UserError('No zone is linked to an app.', 'Choose apps: edit the watch.');
  return ids;
}

/**
 * Looks at the chosen apps, or at those that zones are linked to. An app that is gone or not reported is neither wrong nor fine.
 *
 * @throws ApiError, BudgetSpent where none could be read; UserError where none is reported.
 */
export async function lookAtApps(
  { account, subject }: Pick<LookInput<never>, 'account' | 'subject'>,
  judge: (app: AppSummary) => AppFigure,
): Promise<Observation> {
  const all = subject.targets.length > 0 ? new Set(subject.targets) : await findApps(account);
  const ids = [...all].slice(0, mostApps);
  const { read, unread } = await readEach(ids, (id) => account.apps.summary(id));
  const found = read.map(({ item: id, value }) => ({ id, name: nameApp(id), figure: judge(value) }));
  const unknown = found.filter(({ figure }) => figure.isWrong === undefined);
  const [first] = unknown;
  if (first && unknown.length === found.length)
    throw new UserError(`App ${first.name}: ${first.figure.text}.`, 'Look at the app itself.');
  const values = found.flatMap(({ figure: { value } }) => (value === undefined ? [] : [value]));
  return {
    parts: found.flatMap(({ id, name, figure: { isWrong, text, value } }): Part[] =>
      isWrong ? [{ id, name, text, value }] : [],
    ),
    value: values.length > 0 ? Math.max(...values) : undefined,
    unread: [...unread.map(({ item }) => item), ...unknown.map(({ id }) => id)],
    evidence: [
      ...found
        .toSorted((a, b) => Number(b.figure.isWrong ?? 0.5) - Number(a.figure.isWrong ?? 0.5))
        .map(
          ({ name, figure: { text: is, wrongIf, isWrong = false } }): Evidence => ({
            name,
            is,
            wrongIf,
            isWrong,
          }),
        ),
      ...(all.size > ids.length
        ? [
            {
              name: `${all.size - ids.length} further apps`,
              is: `not read: at most ${mostApps} are`,
              isWrong: false,
            },
          ]
        : []),
      ...unread.map(({ item, why }) => ({ name: nameApp(item), is: why, isWrong: false })),
    ].slice(0, 30),
  };
}

/** Next step of every condition of apps. */
export function showApp(part: Part | undefined) {
  return { label: 'Show app', command: part ? `app ${part.id}` : 'app' };
}

function nameApp(id: string): string {
  return truncate(`app ${id}`, 60);
}
