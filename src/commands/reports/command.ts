import type { ModalView } from '@slack/types';
import { UserError } from '../../errors.ts';
import type { Message } from '../../views/blocks/blocks.ts';
import { formatCode } from '../../views/blocks/text.ts';
import { reportSkeleton } from '../../views/reports/form.ts';
import { type Listed, type ListWords, renderAtHome, renderList } from '../../views/reports/list.ts';
import type { Command, Context, Feature, With } from '../define.ts';
import { findClosest } from '../did-you-mean.ts';
import type { Service } from '../services.ts';
import type { Words } from '../words.ts';
import { canBeTakenOver, type Scheduled } from './model.ts';

/** Whether somebody sees a report that is not theirs. */
export type Visible = (
  report: Scheduled,
  reader: { admin: boolean; channelId: string | undefined },
) => boolean;

/** Those of this channel, and for admins all. */
const inList: Visible = ({ channel }, { admin, channelId }) => admin || channel === channelId;
/** For admins those that the bot paused. */
const atHome: Visible = (report, { admin }) => admin && canBeTakenOver(report);

interface About<Needs extends Service>
  extends Pick<Command, 'usage' | 'summary' | 'label' | 'examples' | 'aliases'>,
    Pick<Feature<Needs>, 'actions' | 'forms' | 'pickers'> {
  readonly noun: 'digest' | 'alert';
  readonly plural: 'digests' | 'alerts';
  /** Other words for its verbs. */
  readonly otherVerbs: Readonly<Record<string, string>>;
  /** Work on one, by its word: they decide by its owner. `more`: the word behind the id. */
  readonly verbs: Readonly<
    Record<string, (id: string, context: With<Needs>, more?: string) => Promise<Message>>
  >;
  readonly newForm: (typed: readonly string[], context: With<Needs>) => Promise<ModalView>;
  readonly editForm: (id: string, context: With<Needs>) => Promise<ModalView>;
  /** The person's own, and those of others that are visible. */
  readonly list: (context: With<Needs>, isVisible: Visible) => Promise<ListWords & { rows: Listed[] }>;
  /** The words that an unknown verb may have meant. */
  readonly guess?: (verb: string) => string | undefined;
}

/** The feature of digests or alerts: a command with `list`, `new`, `edit` and its verbs, its form, and a part of the Home tab. */
export function defineReportFeature<Needs extends Service>(
  about: About<Needs | 'accounts'>,
): Feature<Needs | 'accounts'> {
  const { noun, plural, aliases = [], otherVerbs, verbs, newForm, editForm, list, guess } = about;
  const { actions = [], forms = [], pickers = [], ...summary } = about;
  const skeleton = (title: string): ModalView => reportSkeleton(plural, title);
  const readWords = ({ list: [typed = 'list', id, more] }: Words) => {
    const verb = typed.toLowerCase();
    return { verb: { remove: 'delete', ...otherVerbs }[verb] ?? verb, id, more };
  };
  const { usage, label, examples } = summary;
  const command: Command<Needs | 'accounts'> = {
    usage,
    summary: summary.summary,
    ...(label === undefined ? {} : { label }),
    examples,
    name: noun,
    aliases: [plural, ...aliases],
    task: 'Act',
    changesHome: true,
    needs: 'read',
    needsFor(words) {
      const { verb } = readWords(words);
      return verb === 'list' || Object.hasOwn(verbs, verb) ? 'none' : 'read';
    },
    modal(words) {
      const { verb, id } = readWords(words);
      if (verb === 'new') return skeleton(`New ${noun}`);
      return verb === 'edit' && id !== undefined ? skeleton(`Edit ${noun}`) : undefined;
    },
    load(words, context) {
      const { verb, id = '' } = readWords(words);
      return verb === 'edit' ? editForm(id, context) : newForm(words.list.slice(1), context);
    },
    async run(words, context) {
      const { verb, id, more } = readWords(words);
      if (verb === 'list') {
        const budget = await context.accounts.describeBudget(context.person);
        const { rows, ...words } = await list(context, inList);
        return renderList(rows, words, { budget, asOf: context.now() });
      }
      const work = Object.hasOwn(verbs, verb) ? verbs[verb] : undefined;
      if (work && id !== undefined) return work(id, context, more);
      if (!work && verb !== 'edit') throw createUnknownVerb(verb);
      // With an id, `edit` opens a form instead.
      const example = `\`/cdn ${noun} list\` shows the IDs. Then: \`/cdn ${noun} ${verb} k7f3q\``;
      throw new UserError(`Which ${noun}?`, example);
    },
  };

  function createUnknownVerb(verb: string): UserError {
    const [near] = findClosest(verb, ['new', 'list', 'edit', ...Object.keys(verbs)], 1);
    const meant = guess?.(verb) ?? near;
    return new UserError(
      `${formatCode(verb, 30)} is not ${noun === 'alert' ? 'an alert' : 'a digest'} command.`,
      meant === undefined
        ? `\`/cdn ${noun} new\` creates one, \`/cdn ${noun} list\` shows all.`
        : `Did you mean \`/cdn ${noun} ${meant}\`?`,
    );
  }

  return {
    name: plural,
    commands: [command],
    actions: [
      { id: `${plural}:edit`, needs: 'read', modal: () => skeleton(`Edit ${noun}`), load: editForm },
      ...actions,
    ],
    forms,
    pickers,
    homeSection: async (context) => renderAtHome((await list(context, atHome)).rows, noun),
  };
}

/** The person's own, and those of others that `isVisible` picks. */
export async function pickVisible<Row>(
  { person, authorizer, channelId }: Context,
  all: readonly Row[],
  reportOf: (row: Row) => Scheduled,
  isVisible: Visible,
): Promise<(Row & { own: boolean; manages: boolean })[]> {
  const { admin } = await authorizer.actor();
  return all.flatMap((row) => {
    const report = reportOf(row);
    const own = report.owner.userId === person.userId;
    return own || isVisible(report, { admin, channelId }) ? [{ ...row, own, manages: admin || own }] : [];
  });
}
