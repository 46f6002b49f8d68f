import type { ModalView } from '@slack/types';
import { tenantId } from '../../auth/identity.ts';
import { UserError } from '../../errors.ts';
import type { Message } from '../../views/blocks/blocks.ts';
import { formatCode } from '../../views/blocks/text.ts';
import { reportSkeleton } from '../../views/reports/form.ts';
import { type Listed, renderAtHome, renderList, type State } from '../../views/reports/list.ts';
import type { Command, Context, Feature } from '../define.ts';
import { findClosest } from '../did-you-mean.ts';
import type { Words } from '../words.ts';
import { createVerbs } from './manage.ts';
import { canBeTakenOver, type Report, type ReportKind, type ReportOf } from './model.ts';

interface About<Kind extends ReportKind>
  extends Pick<Command, 'usage' | 'summary' | 'label' | 'examples'>,
    Required<Pick<Feature, 'actions' | 'forms' | 'pickers'>> {
  readonly aliases: readonly string[];
  /** Other words for its verbs. */
  readonly otherVerbs: Readonly<Record<string, string>>;
  /** Its own work on one, by its word: they decide by its owner. `more`: the word behind the id. */
  readonly verbs: Readonly<Record<string, (id: string, context: Context, more?: string) => Promise<Message>>>;
  readonly newForm: (typed: readonly string[], context: Context) => Promise<ModalView>;
  readonly editForm: (id: string, context: Context) => Promise<ModalView>;
  /** How each of a tenant is now. */
  readonly readStates: (context: Context) => Promise<(report: ReportOf<Kind>) => State>;
  /** The words that an unknown verb may have meant. */
  readonly guess?: (verb: string) => string | undefined;
}

/** The feature of digests or alerts: a command with `list`, `new`, `edit` and its verbs, its form, and a part of the Home tab. */
export function defineReportFeature<Kind extends ReportKind>(kind: Kind, about: About<Kind>): Feature {
  const { actions, aliases, editForm, forms, guess, newForm, otherVerbs, pickers, readStates, ...summary } =
    about;
  const shared = createVerbs(kind);
  const verbs = { ...about.verbs, ...shared.verbs } as typeof about.verbs;
  const skeleton = (title: string): ModalView => reportSkeleton(kind, title);

  const readWords = ({ list: [typed = 'list', id, more] }: Words) => {
    const verb = typed.toLowerCase();
    return { verb: { remove: 'delete', ...otherVerbs }[verb] ?? verb, id, more };
  };

  /** The person's own, and those of others that `isVisible` picks. */
  async function list(
    context: Context,
    isVisible: (report: Report, admin: boolean) => boolean,
  ): Promise<Listed[]> {
    const { authorizer, person, reports } = context;
    const [{ admin }, all, readState] = await Promise.all([
      authorizer.actor(),
      reports.list(tenantId(person)),
      readStates(context),
    ]);
    return all.flatMap((report) => {
      const own = report.owner.userId === person.userId;
      if (report.kind !== kind || !(own || isVisible(report, admin))) return [];
      return [{ report, state: readState(report as ReportOf<Kind>), own, manages: admin || own }];
    });
  }

  const command: Command = {
    usage: summary.usage,
    summary: summary.summary,
    ...(summary.label === undefined ? {} : { label: summary.label }),
    examples: summary.examples,
    name: kind,
    aliases: [`${kind}s`, ...aliases],
    task: 'Act',
    changesHome: true,
    needs: 'read',
    needsFor(words) {
      const { verb } = readWords(words);
      return verb === 'list' || Object.hasOwn(verbs, verb) ? 'none' : 'read';
    },
    modal(words) {
      const { verb, id } = readWords(words);
      if (verb === 'new') return skeleton(`New ${kind}`);
      return verb === 'edit' && id !== undefined ? skeleton(`Edit ${kind}`) : undefined;
    },
    load(words, context) {
      const { verb, id = '' } = readWords(words);
      return verb === 'edit' ? editForm(id, context) : newForm(words.list.slice(1), context);
    },
    async run(words, context) {
      const { verb, id, more } = readWords(words);
      if (verb === 'list') {
        const { accounts, channelId, person, now } = context;
        const rows = await list(context, ({ channel }, admin) => admin || channel === channelId);
        return renderList(kind, rows, { budget: await accounts.describeBudget(person), asOf: now() });
      }
      const work = Object.hasOwn(verbs, verb) ? verbs[verb] : undefined;
      if (work && id !== undefined) return work(id, context, more);
      if (!work && verb !== 'edit') throw createUnknownVerb(verb);
      // With an id, `edit` opens a form instead.
      const example = `\`/cdn ${kind} list\` shows the IDs. Then: \`/cdn ${kind} ${verb} k7f3q\``;
      throw new UserError(`Which ${kind}?`, example);
    },
  };

  function createUnknownVerb(verb: string): UserError {
    const [near] = findClosest(verb, ['new', 'list', 'edit', ...Object.keys(verbs)], 1);
    const meant = guess?.(verb) ?? near;
    return new UserError(
      `${formatCode(verb, 30)} is not ${kind === 'alert' ? 'an alert' : 'a digest'} command.`,
      meant === undefined
        ? `\`/cdn ${kind} new\` creates one, \`/cdn ${kind} list\` shows all.`
        : `Did you mean \`/cdn ${kind} ${meant}\`?`,
    );
  }

  return {
    name: `${kind}s`,
    commands: [command],
    actions: [
      { id: `${kind}s:edit`, needs: 'read', modal: () => skeleton(`Edit ${kind}`), load: editForm },
      ...actions,
      ...shared.buttons,
    ],
    forms,
    pickers,
    // For admins also what the bot paused.
    homeSection: async (context) =>
      renderAtHome(kind, await list(context, (report, admin) => admin && canBeTakenOver(report))),
  };
}
