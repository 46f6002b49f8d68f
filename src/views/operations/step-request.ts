import type { VolumeShown } from '../../api/zones/summary.ts';
import { actions, type Message, message, section } from '../blocks/blocks.ts';
import { button, confirmation } from '../blocks/buttons.ts';
import { formatMoment } from '../blocks/format.ts';
import { escapeMrkdwn, formatCode, plainText } from '../blocks/text.ts';
import { describeVolumeConsequences } from './describe.ts';

/** A deletion that a step of Workflow Builder asks for in the name of the person who runs the workflow. */
export interface StepRequest {
  readonly run: string;
  readonly appId: string;
  readonly volumeId: string;
  readonly reason: string;
}

/** Asks the person who ran the workflow, where the settings ask nobody else. */
export function renderStepRequest(asked: StepRequest, shown: VolumeShown, until: Date): Message {
  const { appId, volumeId, reason } = asked;
  const value = JSON.stringify(asked);
  const what = `${plainText(volumeId, 60)} of app ${plainText(appId, 60)}`;
  return message(`A workflow that you ran asks to delete volume ${escapeMrkdwn(what, 140)}.`, [
    section([
      `A workflow that you ran asks to *delete volume ${formatCode(volumeId, 60)} of app ${formatCode(appId, 60)}, every instance*`,
      `> ${escapeMrkdwn(reason, 500)}`,
    ]),
    section(describeVolumeConsequences(shown)),
    section(
      `No approval is asked for: *Delete it* runs at once, with your key. Without an answer the request expires ${formatMoment(until)}.`,
    ),
    actions(
      button('Delete it', 'steps:confirm', value, {
        style: 'danger',
        confirm: confirmation(
          'Delete this volume?',
          `Volume ${what}, every instance. This cannot be undone, there is no backup.`,
          'Delete it',
          'Not now',
        ),
      }),
      button('Do not delete', 'steps:reject', value),
    ),
  ]);
}
