import type { Button, KnownBlock, ModalView } from '@slack/types';
import { actions, button, commandButton, context, message, plain, section } from '../blocks/blocks.ts';
import { formatMoment } from '../blocks/dates.ts';
import type { FormResult, Message } from '../blocks/message.ts';
import { type Consequences, consequences } from './policy-changes.ts';

const title = plain('Settings');

/** The second look, before saving: on top of the form, which stays as it is. */
export function renderSettingsReview(
  found: Consequences | { readonly problems: readonly string[] },
): ModalView {
  const blocks =
    'problems' in found
      ? [
          section(
            `:warning: *This cannot be saved yet*\n${found.problems.map((line) => `• ${line}`).join('\n')}`,
          ),
        ]
      : found.changes.length === 0
        ? [section('Nothing would change.')]
        : [...consequences(found), context('Go back and press *Save* to make it so.')];
  return {
    type: 'modal',
    callback_id: 'settings:reviewed',
    title: plain('What would change'),
    close: plain('Back'),
    blocks,
  };
}

export interface SavedSettings {
  readonly version: number;
  readonly found: Consequences;
  /** The channels that were told; `failed` where the bot cannot write there. */
  readonly told: readonly { readonly channel: string; readonly failed: boolean }[];
}

export function renderSaved({ version, found, told }: SavedSettings): FormResult {
  const text = `Saved: version ${version} of the settings holds now.`;
  const blocks: KnownBlock[] = [
    section(`:white_check_mark: *${text}*`),
    ...consequences(found),
    ...told.map((one) => context(toldLine(one))),
    actions(undoButton(version)),
  ];
  return answer(text, blocks);
}

function toldLine({ channel, failed }: SavedSettings['told'][number]): string {
  return failed
    ? `:warning: <#${channel}> could not be told: invite the bot there (\`/invite @cdn\`).`
    : `<#${channel}> was told.`;
}

export function nothingChanged(): FormResult {
  const text = 'Nothing was changed, so nothing was saved.';
  return answer(text, [section(text)]);
}

/** Two saved at once: the second looks again. */
export function changedMeanwhile(last: { readonly by: string; readonly at: Date } | undefined): FormResult {
  const text = last
    ? `Changed meanwhile by <@${last.by}>, ${formatMoment(last.at)}. Yours was not saved.`
    : 'The settings are not the ones you saw. Yours were not saved.';
  return answer(text, [section(`:warning: *${text}*`), actions(commandButton('Look again', 'settings'))]);
}

/** Notifies the approval channel of a change. */
export function renderAnnouncement(by: string, version: number, found: Consequences): Message {
  const text = `<@${by}> changed the settings of the CDN bot (version ${version}).`;
  return message(text, [section(text), ...consequences(found)]);
}

/** For the channel that was chosen for checkpoints: also finds out whether the bot can write there. */
export function checkpointsComeHere(by: string): Message {
  const text = `<@${by}> chose this channel for the daily checkpoint of the CDN bot’s audit record.`;
  const why =
    'Each is a signed line that says what the record held. Kept here, it shows later whether the record was rewritten or cut.';
  return message(text, [section(text), context(why)]);
}

/** Restores the previous version. */
export function undoButton(version: number): Button {
  return button('Undo the last change', 'settings:undo', String(version), {
    confirm: {
      title: plain('Undo the last change?'),
      text: plain(
        version > 1
          ? `The settings become those of version ${version - 1} again.`
          : 'The settings become empty again: everybody may read, nobody more.',
      ),
      confirm: plain('Undo'),
      deny: plain('Keep'),
    },
  });
}

function answer(text: string, blocks: KnownBlock[]): FormResult {
  return {
    modal: { type: 'modal', callback_id: 'settings:done', title, close: plain('Done'), blocks },
    message: message(text, blocks),
  };
}
