import type { Digest } from '../../digests/model.ts';
import {
  actions,
  button,
  commandButton,
  connectButton,
  context,
  message,
  section,
} from '../blocks/blocks.ts';
import type { Message } from '../blocks/message.ts';
import { pluralize } from '../blocks/text.ts';
import { renderDigestRow } from './list.ts';

const mostRows = 10;

/** For whoever owns them: what stopped with the app, which is back. */
export function renderReinstalled(about: {
  readonly digests: readonly Digest[];
  readonly hasKey: boolean;
}): Message {
  const { digests, hasKey } = about;
  const one = digests.length === 1;
  const rest = one ? 'A digest of yours rests' : `${pluralize(digests.length, 'digest')} of yours rest`;
  const text = `The bot is back in this workspace. ${rest} since it was removed.`;
  const key = hasKey ? '' : 'Your CDN key was destroyed with it: connect it again. ';
  const next = one
    ? 'Invite the bot to its channel (`/invite @cdn`), then resume it.'
    : 'Invite the bot to their channels (`/invite @cdn`), then resume them.';
  return message(text, [
    section(`:double_vertical_bar: *${text}*\n${key}${next}`),
    ...rows(digests),
    actions(
      ...(hasKey ? [] : [connectButton('Connect my key')]),
      button(one ? 'Resume' : 'Resume all', 'digests:resume-all', 'uninstalled'),
      commandButton('All digests', 'digest list'),
    ),
  ]);
}

/** They run again. */
export function renderResumedAll(digests: readonly Digest[]): Message {
  const one = digests.length === 1;
  const text = `${pluralize(digests.length, 'digest')} of yours ${one ? 'runs' : 'run'} again.`;
  return message(text, [
    section(`*${text}*`),
    ...rows(digests),
    actions(commandButton('All digests', 'digest list')),
  ]);
}

function rows(digests: readonly Digest[]) {
  const left = digests.length - mostRows;
  return [
    ...digests
      .slice(0, mostRows)
      .flatMap((digest) => renderDigestRow({ digest, last: undefined, manages: true, own: true })),
    ...(left > 0 ? [context(`and ${pluralize(left, 'more digest')}`)] : []),
  ];
}
