import type { ModalView } from '@slack/types';
import { UserError } from '../../errors.ts';
import type { Message } from '../../views/blocks/blocks.ts';
import { formatCode } from '../../views/blocks/text.ts';
import type { Command, With } from '../define.ts';
import { findClosest } from '../did-you-mean.ts';
import type { Service } from '../services.ts';
import type { Words } from '../words.ts';

interface About<Needs extends Service> extends Pick<Command, 'usage' | 'summary' | 'label' | 'examples'> {
  readonly noun: 'digest' | 'alert';
  readonly plural: 'digests' | 'alerts';
  /** Other words for the command. */
  readonly aliases?: readonly string[];
  /** Other words for its verbs. */
  readonly otherVerbs: Readonly<Record<string, string>>;
  /** Work on one, by its word: they decide by its owner. `more`: the word behind the id. */
  readonly verbs: Readonly<
    Record<string, (id: string, context: With<Needs>, more?: string) => Promise<Message>>
  >;
  readonly skeleton: (title: string) => ModalView;
  readonly newForm: (typed: readonly string[], context: With<Needs>) => Promise<ModalView>;
  readonly editForm: (id: string, context: With<Needs>) => Promise<ModalView>;
  readonly list: (context: With<Needs>) => Promise<Message>;
  /** The words that an unknown verb may have meant. */
  readonly guess?: (verb: string) => string | undefined;
}

/** The command of digests or alerts: `list`, `new`, `edit`, and its verbs. */
export function defineScheduledCommand<Needs extends Service>(about: About<Needs>): Command<Needs> {
  const {
    noun,
    plural,
    aliases = [],
    otherVerbs,
    verbs,
    skeleton,
    newForm,
    editForm,
    list,
    guess,
    ...summary
  } = about;
  const readWords = ({ list: [typed = 'list', id, more] }: Words) => {
    const verb = typed.toLowerCase();
    return { verb: { remove: 'delete', ...otherVerbs }[verb] ?? verb, id, more };
  };
  return {
    ...summary,
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
      if (verb === 'list') return list(context);
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
}
