import { checkView } from '../block-kit/checks.ts';
import type { TriggerOrigin } from '../triggers.ts';
import type { OpenView } from '../views.ts';
import type { Json } from '../world.ts';
import { isObject } from '../world.ts';
import { type ApiCall, assertChecked, type Method, personOf, Refused, stringArg } from './call.ts';

/** views.open, push, update, publish. */
export const viewMethods: Record<string, Method> = {
  'views.open': (call) => show(call),
  'views.push': (call) => show(call),

  'views.update'(call) {
    const definition = definitionOf(call, 'modal');
    const { view_id: id, external_id: externalId, hash } = call.args;
    if (id === undefined && externalId === undefined)
      throw new Refused('invalid_arguments', ['[ERROR] view_id or external_id is required']);
    const view = call.sim.views.find(
      (open) =>
        call.install.covers(open.installTeamId) &&
        (id === undefined ? open.definition['external_id'] === externalId : open.id === id),
    );
    if (!view) throw new Refused('not_found');
    conflict(view, hash);
    call.sim.views.update(view, definition);
    return { view: call.sim.views.wire(view) };
  },

  'views.publish'(call) {
    const { person, installTeamId } = personOf(call, stringArg(call, 'user_id'));
    const definition = definitionOf(call, 'home');
    const who = { teamId: person.teamId, userId: person.id, installTeamId };
    const known = call.sim.views.home(who);
    if (known) conflict(known, call.args['hash']);
    return { view: call.sim.views.wire(call.sim.views.publish(who, definition)) };
  },
};

function show(call: ApiCall): Json {
  const id = stringArg(call, 'trigger_id');
  const origin = call.sim.triggers.check(id);
  if (typeof origin === 'string') throw new Refused(origin);
  if (!call.install.covers(origin.installTeamId)) {
    call.sim.problem(
      `${call.method}: the token of ${call.install.id} was used with a trigger of ${origin.installTeamId}`,
    );
    throw new Refused('invalid_trigger_id');
  }
  if (call.method === 'views.push' && origin.viewId === undefined) throw new Refused('invalid_trigger_id');
  const definition = definitionOf(call, 'modal');
  uniqueExternalId(call, origin, definition);
  const opened = call.sim.views.open(origin, definition);
  if (opened === 'push_limit_reached') throw new Refused(opened);
  call.sim.triggers.use(id);
  return { view: call.sim.views.wire(opened) };
}

function definitionOf(call: ApiCall, type: 'modal' | 'home'): Json {
  const { view } = call.args;
  assertChecked(call, checkView(view, call.method, type));
  if (!isObject(view)) throw new Refused('invalid_arguments');
  return view;
}

function conflict(view: OpenView, hash: unknown): void {
  if (typeof hash === 'string' && hash !== '' && hash !== view.hash) throw new Refused('hash_conflict');
}

function uniqueExternalId(call: ApiCall, origin: TriggerOrigin, definition: Json): void {
  const { external_id: externalId } = definition;
  if (typeof externalId !== 'string' || externalId === '') return;
  const taken = call.sim.views.find(
    (open) => open.installTeamId === origin.installTeamId && open.definition['external_id'] === externalId,
  );
  if (taken) throw new Refused('duplicate_external_id');
}
