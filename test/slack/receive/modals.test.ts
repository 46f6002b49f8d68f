import type { KnownBlock, ModalView } from '@slack/types';
import { expect, test } from 'vitest';
import { SecretLeakBlocked } from '../../../src/errors.ts';
import { answerInModal, createModalFlow, refill } from '../../../src/slack/receive/modals.ts';
import type { Interaction } from '../../../src/slack/receive/perform.ts';
import type { Respond } from '../../../src/slack/send/responder.ts';
import { section } from '../../../src/views/blocks/blocks.ts';
import { modal } from '../../../src/views/blocks/inputs.ts';

const place = { channelId: 'C1', threadTs: undefined };
const view = (title: string): ModalView => modal({ title }, [section('x')]);
const below = { id: 'V1', hash: 'h1', callback_id: 'any' };

/** One turn with a Slack that refuses these methods: what it was asked, and what was said in messages. */
function createTurn(refused: Readonly<Record<string, string>>) {
  const asked: string[] = [];
  const said: string[] = [];
  const answer = (method: string) => async (args: { view_id?: string; hash?: string; view: ModalView }) => {
    const where = [method, args.view_id, args.hash, args.view.title.text];
    asked.push(where.filter((part) => part !== undefined).join(' '));
    const code = refused[method];
    if (code === 'secret') throw new SecretLeakBlocked('slack', 'abcd1234');
    if (code !== undefined) throw Object.assign(new Error(code), { data: { error: code } });
    return { view: { id: `V-${method}` } };
  };
  const client = async () => ({
    views: { open: answer('open'), push: answer('push'), update: answer('update') },
  });
  const respond: Respond = async ({ text }) => Boolean(said.push(text));
  const wrapRespond: Interaction['wrapRespond'] = (wrap) => wrap(respond);
  const turn = { context: {}, client, respond, wrapRespond } as unknown as Interaction;
  return { turn, asked, said };
}

type Entry = Parameters<typeof createModalFlow<string>>[0];
const form: Entry = { modal: () => view('Form') };
const loaded: Entry = { ...form, load: async () => view('Loaded') };
const answered: Entry = { run: () => Promise.resolve({ text: 'Done' }) };

test.each<
  [string, Entry, Partial<Parameters<typeof createModalFlow>[2]>, Record<string, string>, string[], string[]?]
>([
  ['a form opens once its person is known', form, {}, {}, ['open Form']],
  ['a form that is loaded opens before', loaded, {}, {}, ['open Form', 'update V-open Loaded']],
  ['a form comes on top of another', form, { below }, {}, ['push Form']],
  [
    'a fourth form replaces the third',
    form,
    { below },
    { push: 'push_limit_reached' },
    ['push Form', 'update V1 Form'],
  ],
  [
    'a form that opened without a word of Slack cannot be filled',
    loaded,
    {},
    { open: 'exchanged_trigger_id' },
    ['open Form'],
    ['UserError'],
  ],
  ['a form comes too late', form, {}, { open: 'expired_trigger_id' }, ['open Form'], ['UserError']],
  ['a form is refused', form, {}, { open: 'not_enabled' }, ['open Form'], ['Error']],
  ['a form in a message is offered', form, { triggerId: undefined, written: 'zones' }, {}, [], ['offer']],
  ['an answer is a message', answered, {}, {}, [], ['Done']],
  ['an answer stands in the form below', answered, { below }, {}, ['update V1 Done']],
  [
    'an answer with a form of its own comes on top',
    answered,
    { below, newModal: 'zones' },
    {},
    ['push Zones', 'update V-push Zones'],
  ],
  ['nothing is answered', { run: () => undefined }, { below }, {}, []],
  ['a form is drawn again', { redraw: async () => view('Again') }, { below }, {}, ['update V1 h1 Again']],
  ['a form stays as it is', { redraw: async () => undefined }, { below }, {}, []],
])('%s', async (_, entry, origin, refused, asked, said = []) => {
  const slack = createTurn(refused);
  const flow = createModalFlow<string>(entry, 'input', { triggerId: 't1', place, ...origin });
  const setup = { keyPage: undefined, panel: undefined } as never;
  const failed = await (async () => {
    await flow.beforeAuthorize?.({ client: slack.turn.client, setup });
    await flow.run(slack.turn);
  })().catch((error: Error) => error.constructor.name);
  expect(slack.asked).toEqual(asked);
  const heard = [...slack.said, ...(failed === undefined ? [] : [failed])];
  expect(said[0] === 'offer' ? heard.map(() => 'offer') : heard).toEqual(said);
});

test.each<[string, Entry, object, Record<string, string>, boolean]>([
  ['is a message where no form is open', form, {}, {}, false],
  ['stands in the form below', form, { below }, {}, true],
  ['stands in the form that opened', loaded, {}, {}, true],
  ['is a message where nobody knows the form', loaded, {}, { open: 'exchanged_trigger_id' }, false],
])('a failure %s', async (_, entry, origin, refused, isShown) => {
  const { turn, asked } = createTurn(refused);
  const flow = createModalFlow<string>(entry, 'input', { triggerId: 't1', place, ...origin });
  await flow.beforeAuthorize?.({ client: turn.client, setup: {} as never });
  const message = { text: 'It failed.' };
  const failure = { message: 'It failed.', hint: 'Try again.', reference: 'abcd1234' };
  expect(await flow.showFailure?.({ client: turn.client, failure, message })).toBe(isShown);
  expect(asked.filter((call) => call.startsWith('update'))).toHaveLength(isShown ? 1 : 0);
});

test.each<[string, Record<string, string>, 'progress' | undefined, unknown, number, string[]]>([
  ['stands in the form', {}, undefined, true, 1, []],
  ['shows no progress there', {}, 'progress', false, 0, []],
  ['is a message once the form is closed', { update: 'not_found' }, undefined, true, 1, ['x']],
  ['is a message where Slack takes no edit', { update: 'internal_error' }, undefined, true, 1, ['x']],
  ['with a secret is none either', { update: 'secret' }, undefined, 'SecretLeakBlocked', 1, []],
])('an answer %s', async (_, refused, as, outcome, edits, said) => {
  const slack = createTurn(refused);
  const respond = answerInModal('V1', 'CDN', slack.turn, place);
  expect(await respond({ text: 'x' }, as).catch((error: Error) => error.name)).toBe(outcome);
  expect([slack.asked.length, slack.said]).toEqual([edits, said]);
});

const typed = { type: 'plain_text_input', value: 'typed' } as const;
const field = (id: string, more = {}) => ({ type: 'plain_text_input', action_id: id, ...more });
const blocks = [
  { type: 'input', block_id: 'a:2', element: field('a', { initial_value: 'old' }) },
  { type: 'actions', block_id: 'b', elements: [field('b'), { type: 'button', action_id: 'b', value: 'Go' }] },
  { type: 'section', block_id: 'c', accessory: field('c') },
  { type: 'section', block_id: 'd' },
] as unknown as KnownBlock[];
const filled = [
  { type: 'input', block_id: 'a:2', element: field('a', { initial_value: 'typed' }) },
  {
    type: 'actions',
    block_id: 'b',
    elements: [field('b', { initial_value: 'typed' }), { type: 'button', action_id: 'b', value: 'Go' }],
  },
  { type: 'section', block_id: 'c', accessory: field('c', { initial_value: 'typed' }) },
  { type: 'section', block_id: 'd' },
];

test.each([
  ['as it was seen then', true, 'seen', 'seen'],
  ['without a button to submit it', false, 'seen', 'now'],
  ['without a state', true, '', 'now'],
])('a form that opens again holds what was typed, %s', async (_, hasSubmit, metadata, expected) => {
  const submit = { type: 'plain_text' as const, text: 'Save' };
  const drawn: ModalView = {
    ...view('Form'),
    blocks,
    private_metadata: 'now',
    ...(hasSubmit ? { submit } : {}),
  };
  const again = { inputs: { a: typed, b: typed, c: typed }, metadata };
  const entry: Entry = { modal: () => drawn, load: async () => drawn };
  const { load } = refill(entry, again);
  const { modal: open } = refill({ modal: () => drawn }, again);
  for (const shown of [await load?.('', {} as never), open?.('', {} as never)])
    expect(shown).toMatchObject({ blocks: filled, private_metadata: expected });
  expect(refill({ modal: () => undefined }, again).modal?.('', {} as never)).toBeUndefined();
  expect(refill(entry, undefined)).toBe(entry);
});
