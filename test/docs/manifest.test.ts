import { readdirSync, readFileSync } from 'node:fs';
import type { AppsManifestCreateArguments } from '@slack/web-api';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { toDistribution } from '../../manifest.ts';
import { features } from '../../src/commands/registry.ts';
import { personInput, type Step, steps } from '../../src/commands/steps.ts';
import { type Scope, scopes } from '../../src/slack/installations.ts';

const read = (name: string): string => readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8');
type Manifest = Exclude<AppsManifestCreateArguments['manifest'], string>;

type BotScope = NonNullable<NonNullable<NonNullable<Manifest['oauth_config']>['scopes']>['bot']>[number];
type BotEvents = NonNullable<NonNullable<Manifest['settings']>['event_subscriptions']>['bot_events'];

// Slack's own type knows every scope and event: a name that does not exist fails the type check.
const asked = Object.entries(scopes) as [keyof typeof scopes, Scope][] satisfies [BotScope, Scope][];
const events = [
  'app_home_opened',
  'app_mention',
  'message.im',
  'app_uninstalled',
  'tokens_revoked',
  'team_access_revoked',
  'user_change',
] satisfies BotEvents;
// The type lacks the event that Slack's guides require of custom steps.
const ofCustomSteps = 'function_executed';
const manifest = parse(read('manifest.yml')) as {
  oauth_config: { scopes: { bot: string[]; bot_optional: string[] } };
  settings: {
    event_subscriptions: { bot_events: string[] };
    function_runtime: string;
    [name: string]: unknown;
  };
  functions: Manifest['functions'];
  display_information: { name: string; description: string; long_description: string };
  features: {
    slash_commands: { command: string; usage_hint: string }[];
    shortcuts: { name: string; type: 'global' | 'message'; callback_id: string; description: string }[];
  };
};

test('it is an app over Socket Mode that organizations may install, without request addresses', () => {
  const { event_subscriptions: _, ...settings } = manifest.settings;
  expect(settings).toEqual({
    interactivity: { is_enabled: true },
    org_deploy_enabled: true,
    function_runtime: 'remote',
    socket_mode_enabled: true,
    token_rotation_enabled: false,
  });
  expect(read('manifest.yml').replace(/^#.*$/gm, '')).not.toMatch(/url:/);
});

test('it asks for the scopes the code asks for, optional where the code says so, and no other', () => {
  const optional = asked.filter(([, scope]) => scope.optional).map(([name]) => name);
  expect(manifest.oauth_config.scopes.bot).toEqual(asked.map(([name]) => name));
  expect(manifest.oauth_config.scopes.bot_optional).toEqual(optional);
});

test('it subscribes to the events that have a listener, and no other', () => {
  const folder = 'src/slack';
  const files = readdirSync(new URL(`../../${folder}`, import.meta.url), {
    recursive: true,
    encoding: 'utf8',
  });
  const code = files.flatMap((name) => (name.endsWith('.ts') ? read(`${folder}/${name}`) : []));
  const listeners = [...code.join('').matchAll(/(?:event\.type === |type: z\.literal\()'([a-z_]+)'/g)];
  // A listener of messages hears of every kind of conversation that is subscribed to.
  const heard = listeners.map(([, name]) => (name === 'message' ? 'message.im' : name));
  const subscribed = new Set(manifest.settings.event_subscriptions.bot_events);
  expect(subscribed).toEqual(new Set(heard));
  expect(subscribed).toEqual(new Set([...events, ofCustomSteps]));
});

test('the one for distribution is made of it, and has everything but the workflow steps', () => {
  const made = read('manifest.distribution.yml');
  expect(made).toBe(toDistribution(read('manifest.yml')));
  const { functions: _, settings, ...rest } = parse(read('manifest.yml')) as typeof manifest;
  const { function_runtime: __, event_subscriptions: events, ...others } = settings;
  const subscribed = events.bot_events.filter((name) => name !== ofCustomSteps);
  expect(parse(made)).toEqual({
    ...rest,
    settings: { event_subscriptions: { bot_events: subscribed }, ...others },
  });
});

test('the one slash command is there, and its hint names words that exist', () => {
  const [command, ...others] = manifest.features.slash_commands;
  expect(others).toEqual([]);
  expect(command?.command).toBe('/cdn');
  const words = features.flatMap((feature) => feature.commands.map(({ name }) => name));
  for (const hint of command?.usage_hint.split('|') ?? []) {
    expect(words).toContain(hint.trim().split(' ')[0]);
  }
});

test('its shortcuts are the ones that features have, and no other', () => {
  const had = features.flatMap(({ shortcuts = [] }) => shortcuts.map(({ id }) => id));
  expect(manifest.features.shortcuts.map(({ callback_id: id }) => id).toSorted()).toEqual(had.toSorted());
});

const inputsOf = ({ inputs, optional = [] }: Step) => ({
  titles: { [personInput.name]: 'Person', ...inputs },
  required: [personInput.name, ...Object.keys(inputs)].filter((name) => !optional.includes(name)),
});

test('its steps are the ones that the bot has, with their inputs, and no other', () => {
  const declared = Object.entries(manifest.functions ?? {}).map(([id, { input_parameters: inputs }]) => {
    const properties = Object.entries(inputs.properties as Record<string, { title: string; type: string }>);
    expect(properties[0]).toMatchObject([personInput.name, { type: personInput.type }]);
    const titles = Object.fromEntries(properties.map(([name, { title }]) => [name, title]));
    return [id, { titles, required: inputs.required }];
  });
  expect(declared).toEqual(steps.map((step) => [step.id, inputsOf(step)]));
});

// https://docs.slack.dev/reference/app-manifest
test('texts are as long as Slack takes them', () => {
  const { display_information: shown } = manifest;
  expect(shown.name.length).toBeLessThanOrEqual(35);
  expect(shown.description.length).toBeLessThanOrEqual(140);
  expect(shown.long_description.length).toBeGreaterThanOrEqual(175);
  expect(shown.long_description.length).toBeLessThanOrEqual(4000);
  for (const { command } of manifest.features.slash_commands) expect(command).toMatch(/^\/.{1,31}$/);
  // https://docs.slack.dev/reference/app-manifest#features
  expect(manifest.features.shortcuts.length).toBeLessThanOrEqual(10);
  for (const { name, description, callback_id } of manifest.features.shortcuts) {
    expect(name).toMatch(/^.{1,24}$/);
    expect(description).toMatch(/^.{1,150}$/);
    expect(callback_id).toMatch(/^.{1,255}$/);
  }
});
