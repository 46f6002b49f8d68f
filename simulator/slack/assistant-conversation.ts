import { type Assistant, createAssistant, isReadingTool } from './assistant.ts';
import type { ToolServer } from './manifest.ts';
import type { StoredMessage } from './messages.ts';
import type { Who } from './payloads.ts';
import type { Simulation } from './simulation.ts';
import { type Json, memberKey } from './world.ts';

/** The conversation with Slack's assistant, as a channel of the page in which each person sees their own messages. */
export const assistantChannel = 'C0SLACKBOT';

const welcome =
  '*Slack’s assistant, without a model*: you choose what it would call, and it calls the app as you.\n' +
  'An admin allows it in `/cdn settings assistant`, and people need a key: `/cdn connect`, both in another channel. Then press, ' +
  'or type a tool: `get_zone zone=shop`.';
const firstTools = [
  ['Zones', 'list_zones'],
  ['Origin errors', 'list_origin_errors'],
  ['Changes', 'list_zone_changes'],
  ['My requests', 'list_my_requests'],
  ['All tools', ''],
] as const;

const section = (text: string): Json => ({ type: 'section', text: { type: 'mrkdwn', text } });
const button = (text: string, actionId: string, value: object): Json => ({
  type: 'button',
  text: { type: 'plain_text', text },
  action_id: actionId,
  value: JSON.stringify(value),
});

/**
 * There is no model here: people pick a tool, or type its name and arguments (`get_zone zone=shop`). A tool that writes is
 * put to the person first, as Slack does.
 */
export function createAssistantConversation(
  sim: Simulation,
  options: { signingSecret: string; server: ToolServer | undefined },
) {
  const assistants = new Map<string, Assistant>();
  const { acme } = sim.world.workspaces;
  const people = sim.world.people.filter(({ teamId }) => teamId === acme.id);
  sim.world.channels.set(assistantChannel, {
    id: assistantChannel,
    name: 'slackbot',
    kind: 'channel',
    teamId: acme.id,
    members: new Set(people.map(({ teamId, id }) => memberKey(teamId, id))),
    botIsMember: false,
    archived: false,
    shared: false,
  });

  const assistantOf = ({ person }: Who): Assistant => {
    const key = memberKey(person.teamId, person.id);
    const known =
      assistants.get(key) ??
      createAssistant(sim, {
        ...options,
        person: { user_id: person.id, team_id: person.teamId },
      });
    assistants.set(key, known);
    return known;
  };
  const post = ({ person }: Who, user: string, blocks: Json[], text = ''): StoredMessage =>
    sim.messages.post({
      channel: assistantChannel,
      user,
      ephemeralFor: memberKey(person.teamId, person.id),
      text,
      blocks,
    });
  const answer = (who: Who, ...blocks: Json[]): void => void post(who, 'Slackbot', blocks);

  const offerTools = async (who: Who): Promise<void> => {
    const tools = await assistantOf(who).tools();
    const lines = tools.map((tool) => {
      const { properties = {}, required = [] } = tool['inputSchema'] as {
        properties?: object;
        required?: string[];
      };
      const args = Object.keys(properties).map((name) =>
        required.includes(name) ? `${name}=…` : `[${name}=…]`,
      );
      return `• *${String(tool['title'])}* \`${[tool['name'], ...args].join(' ')}\``;
    });
    answer(who, section(`There is no model here. Type a tool with its arguments:\n${lines.join('\n')}`));
  };
  // Once, for everybody: messages survive a restart.
  if (!sim.messages.all().some(({ channel }) => channel === assistantChannel)) {
    const picks = firstTools.map(([label, tool]) => button(label, `pick:${tool}`, {}));
    const blocks = [section(welcome), { type: 'actions', elements: picks }];
    sim.messages.post({ channel: assistantChannel, user: 'Slackbot', text: 'Slack’s assistant', blocks });
  }

  const run = async (who: Who, tool: string, args: object, replaces?: StoredMessage): Promise<void> => {
    const { isError, text, blocks } = await assistantOf(who).call(tool, args);
    const said = isError || blocks.length === 0 ? [section(text.slice(0, 2_900))] : [...blocks];
    const shown = [
      ...said,
      { type: 'context', elements: [{ type: 'mrkdwn', text: `by \`${tool}\` of cdn` }] },
    ];
    if (replaces) sim.messages.update(replaces, { blocks: shown });
    else answer(who, ...shown);
  };

  const ask = async (who: Who, tool: string, args: object, replaces?: StoredMessage): Promise<void> => {
    const listed = (await assistantOf(who).tools()).find(({ name }) => name === tool);
    if (!listed) return offerTools(who);
    if (isReadingTool(listed)) return run(who, tool, args, replaces);
    answer(
      who,
      section(
        `*cdn* wants to run *${String(listed['title'])}*, which can make changes.\n\`${JSON.stringify(args)}\``,
      ),
      {
        type: 'actions',
        elements: [button('Allow once', 'consent:allow', { tool, args }), button('Deny', 'consent:deny', {})],
      },
    );
  };

  /** What a model would be told when its call cannot be sent, the person who plays the model reads. */
  const explain =
    <Given extends [Who, ...unknown[]]>(work: (...given: Given) => Promise<void>) =>
    (...given: Given): Promise<void> =>
      work(...given).catch((error: unknown) =>
        answer(given[0], section(`Not sent: ${error instanceof Error ? error.message : String(error)}.`)),
      );

  return {
    say: explain(async (who: Who, text: string) => {
      post(who, who.person.id, [], text);
      const [tool = '', ...words] = text.trim().split(/\s+(?=[a-z_]+=)|\s+(?=\{)/u);
      await ask(who, tool, readArguments(words));
    }),
    press: explain(async (who: Who, message: StoredMessage, element: Json) => {
      const value = JSON.parse(element['value'] as string) as Json;
      const action = String(element['action_id']);
      if (action === 'consent:allow')
        return run(who, String(value['tool']), value['args'] as object, message);
      if (action === 'consent:deny') return sim.messages.update(message, { blocks: [section('Denied.')] });
      if (action.startsWith('pick:')) await ask(who, action.slice('pick:'.length), value);
      if (action.startsWith('tool:')) await ask(who, action.slice('tool:'.length), value, message);
    }),
    close: async () => void (await Promise.all([...assistants.values()].map((one) => one.close()))),
  };
}

/** `zone=shop limit=5 required=true`, or one JSON object. */
function readArguments(words: readonly string[]): object {
  const [first = ''] = words;
  if (first.startsWith('{')) return JSON.parse(words.join(' ')) as object;
  return Object.fromEntries(
    words.map((word) => {
      const [name = '', ...rest] = word.split('=');
      const value = rest.join('=').trim();
      const isLiteral = /^(?:true|false|\d{1,3})$/u.test(value) && name !== 'variable' && name !== 'script';
      return [name, isLiteral ? (JSON.parse(value) as unknown) : value];
    }),
  );
}
