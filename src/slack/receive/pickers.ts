import type { ModalView, Option } from '@slack/types';
import type { Service, With } from '../../commands/context.ts';
import { findPicker } from '../../commands/registry.ts';
import { createNotes, stillReading } from '../../views/blocks/menu.ts';
import { stripMarkup } from '../../views/blocks/text.ts';
import { perform, type SlackDeps } from './dispatch.ts';

// Slack waits three seconds for the options of a menu (slack.md §3.1), people less.
const pickerMs = 1_900;

/** The options of a menu with search. Answers within Slack's time, whatever happens. */
export async function runPicker(
  deps: SlackDeps,
  body: { actionId: string; typed: string; channelId: string | undefined },
  raw: unknown,
): Promise<readonly Option[]> {
  const picker = findPicker(body.actionId);
  if (!picker) return createNotes(['This menu is from an older version of the bot']);
  const { channelId } = body;
  let options: readonly Option[] = [];
  const work = perform(
    deps,
    {
      kind: 'picker',
      feature: picker.id,
      body: raw,
      claim: undefined,
      needs: picker.needs,
      route: { channelId },
    },
    async ({ context }) => {
      options = await picker.run(body.typed, context);
    },
    async (message) => {
      options = createNotes([stripMarkup(message.text)]);
      return true;
    },
  );
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<readonly Option[]>((resolve) => {
    timer = setTimeout(() => resolve(createNotes([stillReading])), pickerMs);
  });
  const inTime = await Promise.race([work.then(() => options), late]);
  clearTimeout(timer);
  return inTime;
}

/** A form has opened: its menus will be asked next, so what they need is read meanwhile. */
export function prefetchMenus(view: ModalView, context: With<Service>): void {
  for (const block of view.blocks) {
    if (!('element' in block) || block.element.type !== 'external_select') continue;
    findPicker(block.element.action_id ?? '')?.prefetch?.(context);
  }
}
