import { findElements } from './block-ids.ts';
import { checkView } from './block-kit/checks.ts';
import type { Exchange } from './delivery.ts';
import { isEmptyState, stateFor, stateValues } from './element-state.ts';
import type { Interactions } from './interactions.ts';
import { interactiveBase, type Who } from './payloads.ts';
import type { Simulation } from './simulation.ts';
import type { OpenView } from './views.ts';
import { isObject, type Json, memberKey, textOf } from './world.ts';

export interface Submission extends Exchange {
  /** Field errors by block id; from the app, or from Slack itself where nothing was sent. */
  errors?: Record<string, string>;
}

export interface Modals {
  /** Fills inputs: by block id, a plain value, or a value for each action id in it. */
  type(view: OpenView, values: Record<string, unknown>): void;
  submit(who: Who, view: OpenView, values?: Record<string, unknown>): Promise<Submission>;
  /** The person closes the topmost modal; `view_closed` goes out where the view asked for it. */
  close(who: Who, view: OpenView): Promise<void>;
}

const trouble = 'We had some trouble connecting. Try again?';

/** Submitting and closing modals, and the effects of the app's acknowledgement. */
export function createModals(sim: Simulation, interactions: Interactions): Modals {
  function type(view: OpenView, values: Record<string, unknown>): void {
    const elements = findElements(blocksOf(view));
    for (const [blockId, value] of Object.entries(values)) {
      const inBlock = elements.filter(({ block }) => block['block_id'] === blockId);
      if (inBlock.length === 0) {
        const known = elements.map(({ block }) => block['block_id']).join(', ');
        throw new Error(`The modal has no input in a block ${blockId}; it has: ${known}`);
      }
      for (const { element } of inBlock) {
        const actionId = String(element['action_id']);
        const plain = isObject(value) && value['type'] === undefined ? value[actionId] : value;
        if (plain === undefined && inBlock.length > 1) continue;
        view.typed = {
          ...view.typed,
          [blockId]: { ...view.typed[blockId], [actionId]: stateFor(element, plain) },
        };
      }
    }
    sim.changed();
  }

  async function submit(who: Who, view: OpenView, values?: Record<string, unknown>): Promise<Submission> {
    if (values) type(view, values);
    const refused = missing(view);
    if (Object.keys(refused).length > 0) {
      view.errors = refused;
      sim.changed();
      return { status: 0, body: '', ms: 0, timedOut: false, errors: refused };
    }
    view.errors = undefined;
    const { definition } = view;
    const label = `view_submission "${textOf(definition['callback_id'])}"`;
    const trigger = sim.triggers.issue({
      installTeamId: view.installTeamId,
      teamId: view.teamId,
      userId: view.userId,
      viewId: view.id,
    });
    const payload = {
      type: 'view_submission',
      ...interactiveBase(sim.world, who, true),
      trigger_id: trigger,
      view: sim.views.wire(view),
      response_urls: responseUrlsOf(who, view),
    };
    const exchange = await interactions.send(who, payload, label);
    if (exchange.status !== 200) {
      view.errors = { '': trouble };
      sim.changed();
      return exchange;
    }
    respond(who, view, exchange.body, label);
    const { errors } = view;
    return errors === undefined ? exchange : { ...exchange, errors };
  }

  /** Does what the acknowledgement of a submission says. */
  function respond(who: Who, view: OpenView, body: unknown, label: string): void {
    const answer = isObject(body) ? body : {};
    switch (answer['response_action']) {
      case undefined:
        if (body !== '')
          sim.problem(`${label}: the acknowledgement must be empty or carry a response_action`);
        sim.views.close(view);
        return;
      case 'errors':
        view.errors = fieldErrors(view, answer['errors'], label);
        break;
      case 'clear':
        for (const open of sim.views.stack({ teamId: view.teamId, userId: view.userId }))
          sim.views.close(open);
        return;
      case 'update':
      case 'push': {
        const checked = checkView(answer['view'], label, 'modal');
        for (const problem of checked.problems) sim.problem(problem);
        if (checked.error) view.errors = { '': trouble };
        else if (answer['response_action'] === 'update') sim.views.update(view, answer['view'] as Json);
        else if (
          sim.views.open({ ...view, viewId: view.id }, answer['view'] as Json) === 'push_limit_reached'
        ) {
          sim.problem(`${label}: push_limit_reached`);
        }
        break;
      }
      default:
        sim.problem(`${label}: unknown response_action ${JSON.stringify(answer['response_action'])}`);
    }
    sim.changed();
  }

  function fieldErrors(view: OpenView, errors: unknown, label: string): Record<string, string> {
    const inputs = new Set(
      blocksOf(view).flatMap((block) => (block['type'] === 'input' ? [String(block['block_id'])] : [])),
    );
    if (!isObject(errors) || Object.keys(errors).length === 0) {
      sim.problem(`${label}: response_action errors without errors`);
      return { '': trouble };
    }
    for (const [blockId, message] of Object.entries(errors)) {
      if (!inputs.has(blockId))
        sim.problem(
          `${label}: an error for ${JSON.stringify(blockId)}, which is not the block_id of an input`,
        );
      if (typeof message !== 'string' || message === '')
        sim.problem(`${label}: the error of ${blockId} must be a sentence`);
    }
    return Object.fromEntries(Object.entries(errors).map(([blockId, message]) => [blockId, String(message)]));
  }

  function responseUrlsOf(who: Who, view: OpenView): Json[] {
    const values = stateValues(blocksOf(view), view.typed);
    return findElements(blocksOf(view)).flatMap(({ block, element }) => {
      if (element['response_url_enabled'] !== true) return [];
      const state = values[String(block['block_id'])]?.[String(element['action_id'])];
      const channel = state?.['selected_conversation'] ?? state?.['selected_channel'];
      if (typeof channel !== 'string') return [];
      const url = sim.responseUrls.issue({
        install: who.install,
        member: memberKey(view.teamId, view.userId),
        channel,
      });
      return [
        {
          block_id: block['block_id'],
          action_id: element['action_id'],
          channel_id: channel,
          response_url: url,
        },
      ];
    });
  }

  return {
    type,
    submit,
    async close(who, view) {
      const stack = sim.views.stack({ teamId: view.teamId, userId: view.userId });
      const cleared = view.definition['clear_on_close'] === true;
      const closing = cleared ? stack.toReversed() : [view];
      for (const closed of closing) {
        sim.views.close(closed);
        if (closed.definition['notify_on_close'] !== true) continue;
        const wire = sim.views.wire(closed);
        const payload = {
          type: 'view_closed',
          ...interactiveBase(sim.world, who, true),
          view: wire,
          is_cleared: cleared,
        };
        await interactions.send(who, payload, `view_closed "${textOf(closed.definition['callback_id'])}"`);
      }
    },
  };
}

function blocksOf(view: OpenView): Json[] {
  return view.definition['blocks'] as Json[];
}

/** Slack's own checks before it sends a form: required inputs left empty, text too short or too long. */
function missing(view: OpenView): Record<string, string> {
  const values = stateValues(blocksOf(view), view.typed);
  const errors: Record<string, string> = {};
  for (const { block, element } of findElements(blocksOf(view))) {
    if (block['type'] !== 'input') continue;
    const blockId = String(block['block_id']);
    const state = values[blockId]?.[String(element['action_id'])];
    if (!state) continue;
    const text = typeof state['value'] === 'string' ? state['value'] : undefined;
    const { min_length: least, max_length: most } = element;
    if (isEmptyState(state)) {
      if (block['optional'] !== true) errors[blockId] = 'Please complete this required field.';
    } else if (text !== undefined && typeof least === 'number' && text.length < least) {
      errors[blockId] = `Please enter at least ${least} characters.`;
    } else if (text !== undefined && typeof most === 'number' && text.length > most) {
      errors[blockId] = `Please enter at most ${most} characters.`;
    } else if (text !== undefined && element['type'] === 'number_input' && !/^-?\d+(\.\d+)?$/.test(text)) {
      errors[blockId] = 'Please enter a number.';
    }
  }
  return errors;
}
