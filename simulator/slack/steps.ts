import { isObject, type Json, type World } from './world.ts';

/** A step of Workflow Builder as `functions` of the app's manifest declares it (`_metadata.major_version` 2). */
export interface DeclaredStep {
  readonly title: string;
  readonly description: string;
  readonly input_parameters: Parameters;
  readonly output_parameters: Parameters;
}
export type DeclaredSteps = Readonly<Record<string, DeclaredStep>>;

interface Parameters {
  readonly properties: Readonly<Record<string, Parameter>>;
  readonly required?: readonly string[];
}
interface Parameter {
  readonly type: string;
  readonly title?: string;
  readonly description?: string;
  readonly hint?: string;
}

/** A run of a step in somebody's workflow, which waits for the app to complete it. */
export interface StepRun {
  readonly executionId: string;
  readonly callbackId: string;
  /** The installation that runs it. */
  readonly installId: string;
  readonly declared: DeclaredStep;
  /** Secrets of Slack that came with the event: they must never be seen again. */
  readonly secrets: readonly string[];
  /** How the app ended it; undefined while it runs. */
  end?: { readonly outputs: Json } | { readonly error: string };
}

export interface Steps {
  readonly declared: DeclaredSteps;
  readonly runs: Map<string, StepRun>;
}

// https://docs.slack.dev/reference/types, and the published schema of the manifest.
const plainTypes = ['integer', 'number', 'boolean', 'string', 'object', 'array'];
const slackTypes =
  'user_context user_permission user_id channel_id usergroup_id timestamp blocks credential/oauth2 date interactivity ' +
  'rich_text form_input form_input_object message_ts message_context';
const types = new Set([...plainTypes, ...slackTypes.split(' ').map((name) => `slack#/types/${name}`)]);
const most = 50;
const parts = ['title', 'description', 'input_parameters', 'output_parameters'] as const;

/** Takes the steps of a manifest. @throws Error with everything for which Slack refuses the manifest. */
export function createSteps(declared: DeclaredSteps = {}): Steps {
  const entries = Object.entries(declared);
  const problems = entries.flatMap(([id, step]) => findStepProblems(step).map((text) => `${id}: ${text}`));
  if (entries.length > most) problems.push(`${entries.length} functions, more than ${most}`);
  if (problems.length > 0) throw new Error(`Slack refuses the manifest: ${problems.join('; ')}`);
  return { declared, runs: new Map() };
}

function findStepProblems(step: DeclaredStep): string[] {
  const problems = Object.keys(step)
    .filter((name) => !(parts as readonly string[]).includes(name))
    .map((name) => `no member ${name}`);
  for (const name of ['title', 'description'] as const) if (!step[name]) problems.push(`no ${name}`);
  for (const name of ['input_parameters', 'output_parameters'] as const) {
    const { properties, required = [] }: Partial<Parameters> = step[name];
    if (!properties) {
      problems.push(`no properties in ${name}`);
      continue;
    }
    if (Object.keys(properties).length > most) problems.push(`more than ${most} ${name}`);
    for (const [id, { type }] of Object.entries(properties))
      if (!types.has(type)) problems.push(`${id} has the type ${type}`);
    for (const id of required)
      if (!Object.hasOwn(properties, id)) problems.push(`requires ${id}, which is not declared`);
  }
  return problems;
}

/** What is missing, not declared, or of another type. */
export function findWrongValues(
  world: World,
  { properties, required = [] }: Parameters,
  values: Json,
): string[] {
  const missing = required.filter((name) => values[name] === undefined || values[name] === null);
  const wrong = Object.entries(values).flatMap(([name, value]) => {
    const declared = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (!declared) return [`${name} is not declared`];
    return value === undefined || fits(world, declared.type, value) ? [] : [`${name} is no ${declared.type}`];
  });
  return [...missing.map((name) => `${name} is missing`), ...wrong];
}

export const userContext = 'slack#/types/user_context';

function fits(world: World, type: string, value: unknown): boolean {
  switch (type) {
    case 'string':
      return typeof value === 'string';
    case 'integer':
      return Number.isInteger(value);
    case 'number':
      return typeof value === 'number' && Number.isFinite(value);
    case 'boolean':
      return typeof value === 'boolean';
    case 'slack#/types/user_id':
      return typeof value === 'string' && world.person(value) !== undefined;
    case userContext:
      return isObject(value) && typeof value['id'] === 'string' && typeof value['secret'] === 'string';
    case 'slack#/types/channel_id':
      return typeof value === 'string' && world.channels.has(value);
    default:
      return true;
  }
}
