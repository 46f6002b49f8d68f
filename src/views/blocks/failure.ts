import type { KnownBlock, ModalView } from '@slack/types';
import type { UserError } from '../../errors.ts';
import { actions, button, commandButton, connectButton, context, message, section } from './blocks.ts';
import type { Message } from './message.ts';
import { escapeMrkdwn, sanitizeMrkdwn } from './text.ts';

/** More buttons are no help. */
const mostInstead = 6;

export interface Failure {
  /** What was wrong, in mrkdwn: foreign text in it is escaped already. */
  readonly message: string;
  /** What to do next, in mrkdwn. */
  readonly hint?: string | undefined;
  /**
   * `connect`: draw the button that opens the form for a key. `why`: the one that shows the decision. Else buttons that
   * type what would be right instead.
   */
  readonly offer?: UserError['offer'];
  /** What `Why?` asks about: the words of a command. */
  readonly why?: string | undefined;
  /** The id under which the failure is in the log. */
  readonly reference?: string | undefined;
  /** A button that tries again: its action and value. Only where trying again is safe. */
  readonly retry?: { readonly actionId: string; readonly value: string } | undefined;
}

/** What a person sees when something failed: what was wrong, what to do next, a reference, buttons. */
export function renderFailure(failed: Failure): Message {
  // Errors come from everywhere, so their words are not taken on trust.
  const what = sanitizeMrkdwn(failed.message);
  const next = failed.hint ? sanitizeMrkdwn(failed.hint) : '';
  const reference = failed.reference ? `Reference ${escapeMrkdwn(failed.reference, 60)}` : '';
  const blocks: KnownBlock[] = [section([`:warning: ${what}`, next].filter(Boolean).join('\n'))];
  const buttons = [
    ...(failed.offer === 'connect' ? [connectButton()] : []),
    ...(failed.offer === 'why' && failed.why ? [commandButton('Why?', `why ${failed.why}`)] : []),
    ...(typeof failed.offer === 'object'
      ? failed.offer
          .slice(0, mostInstead)
          .map(({ label, types }, index) => commandButton(label, types, index))
      : []),
    // A key has to be connected first; until then the same would fail again.
    ...(failed.retry && failed.offer === undefined
      ? [button('Try again', failed.retry.actionId, failed.retry.value)]
      : []),
  ];
  if (buttons.length > 0) blocks.push(actions(...buttons));
  if (reference) blocks.push(context(reference));
  return message([what, next, reference].filter(Boolean).join(' '), blocks);
}

/** A form with what went wrong above it, and what was typed still in it. */
export function addFailure(form: ModalView, failed: Failure): ModalView {
  return { ...form, blocks: [...(renderFailure(failed).blocks ?? []), ...form.blocks] };
}
