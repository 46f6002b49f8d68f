import type { KnownBlock, ModalView } from '@slack/types';
import type { UserError } from '../../errors.ts';
import { actions, button, commandButton, connectButton, context, message, section } from './blocks.ts';
import type { FormResult, Message } from './message.ts';
import { escapeMrkdwn, sanitizeMrkdwn } from './text.ts';

/** Maximum of buttons with alternatives. */
const maxAlternatives = 6;

export interface Failure {
  /** What was wrong, in mrkdwn, with foreign text escaped. */
  readonly message: string;
  /** The next step, in mrkdwn. */
  readonly hint?: string | undefined;
  /** `connect`: the button to connect a key. `why`: the button that shows the decision. A list: commands to run instead. */
  readonly offer?: UserError['offer'];
  /** The command that `Why?` explains. */
  readonly why?: string | undefined;
  /** The id of the failure in the log. */
  readonly reference?: string | undefined;
  /** Action and value of the button `Try again`, only if a retry is safe. */
  readonly retry?: { readonly actionId: string; readonly value: string } | undefined;
}

/** A failure as a person sees it: what was wrong, the next step, a reference, buttons. */
export function renderFailure(failed: Failure): Message {
  // Errors come from many places, so their texts are sanitized here.
  const what = sanitizeMrkdwn(failed.message);
  const next = failed.hint ? sanitizeMrkdwn(failed.hint) : '';
  const reference = failed.reference ? `Reference ${escapeMrkdwn(failed.reference, 60)}` : '';
  const blocks: KnownBlock[] = [section([`:warning: ${what}`, next].filter(Boolean).join('\n'))];
  const buttons = [
    ...(failed.offer === 'connect' ? [connectButton()] : []),
    ...(failed.offer === 'why' && failed.why ? [commandButton('Why?', `why ${failed.why}`)] : []),
    ...(typeof failed.offer === 'object'
      ? failed.offer
          .slice(0, maxAlternatives)
          .map(({ label, types }, index) => commandButton(label, types, index))
      : []),
    // With an offer, a retry would fail again.
    ...(failed.retry && failed.offer === undefined
      ? [button('Try again', failed.retry.actionId, failed.retry.value)]
      : []),
  ];
  if (buttons.length > 0) blocks.push(actions(...buttons));
  if (reference) blocks.push(context(reference));
  return message([what, next, reference].filter(Boolean).join(' '), blocks);
}

/** A form with the failure above it; its inputs keep their values. */
export function addFailure(form: ModalView, failed: Failure): FormResult {
  const failure = renderFailure(failed);
  return { modal: { ...form, blocks: [...(failure.blocks ?? []), ...form.blocks] }, message: failure };
}
