// Something that holds blocks (a message, a modal, the Home tab) and how what is done in it reaches the bot.

import { act } from './api.js';
import { fail } from './toast.js';

/**
 * `key` names the surface on the page, `kind` is 'message', 'modal' or 'home', `where` goes along with every deed:
 * {user, channel, ts} or {user, channel, viewId}. `filled` tells what its inputs hold: Slack sends that along with a press.
 */
export function surfaceOf(kind, key, where, filled) {
  const send = async (deed, block, element, more) => {
    try {
      return await act(deed, { ...where, blockId: block.block_id, actionId: element.action_id, ...more });
    } catch (error) {
      fail(error);
      return {};
    }
  };
  return {
    kind,
    key,
    where,
    press: (block, element, value) =>
      send('press', block, element, {
        ...(value === undefined ? {} : { value }),
        ...(filled ? { state: filled() } : {}),
      }),
    choose: (block, element, value) =>
      send('choose', block, element, Array.isArray(value) ? { values: value } : { value }),
    suggest: (block, element, typed) => send('suggest', block, element, { typed }),
  };
}
