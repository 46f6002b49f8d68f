import type { JsonSchemaType } from '@modelcontextprotocol/client';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/client/validators/ajv';
import { checkMessage } from './block-kit/checks.ts';
import { isObject, type Json, textOf } from './world.ts';

const validator = new AjvJsonSchemaValidator();

/** Why arguments or facts do not fit a listed schema; undefined = they fit. */
export function findMisfit(schema: unknown, value: unknown): string | undefined {
  return validator.getValidator(schema as JsonSchemaType)(value).errorMessage;
}

const allowed = new Set(
  'context divider header markdown rich_text section file image video actions carousel input data_table data_visualization table card container'.split(
    ' ',
  ),
);
const limits = {
  blocks: 50,
  depth: 20,
  children: 10,
  charts: 2,
  table: 10_000,
  tables: 20_000,
  value: 2_000,
};

/** Blocks as the assistant shows them, with every rule that they break. */
export interface CheckedBlocks {
  readonly blocks: readonly Json[];
  /** One of these drops all blocks. */
  readonly broken: readonly string[];
  /** Elements that stay and do nothing. */
  readonly dead: readonly string[];
}

/** Source of the rules: https://docs.slack.dev/ai/slackbot-mcp-client/returning-rich-responses */
export function checkAssistantBlocks(given: unknown, tools: readonly Json[]): CheckedBlocks {
  if (given === undefined) return { blocks: [], broken: [], dead: [] };
  if (!Array.isArray(given) || !given.every(isObject))
    return { blocks: [], broken: ['blocks are a list of objects'], dead: [] };
  const all = given.flatMap((block) => listNested(block, 1));
  const broken = [
    ...findBrokenLimits(given, all),
    ...findForbiddenAddresses(given),
    ...all.flatMap(({ block }) => listElements(block)).flatMap((element) => findBrokenCall(element, tools)),
    ...(given.length > 0
      ? checkMessage({ text: 'An answer', blocks: given }, { label: 'tool' }).problems
      : []),
  ];
  const dead: string[] = [];
  const blocks = JSON.parse(JSON.stringify(given), (_, value: unknown) =>
    isObject(value) ? withoutForeignAction(value, dead) : value,
  ) as Json[];
  return { blocks: broken.length > 0 ? [] : blocks, broken, dead };
}

interface Nested {
  readonly block: Json;
  readonly depth: number;
}

function listNested(block: Json, depth: number): Nested[] {
  return [{ block, depth }, ...listChildren(block).flatMap((child) => listNested(child, depth + 1))];
}

function listChildren({ type, child_blocks: children, elements }: Json): Json[] {
  const inside = type === 'carousel' ? elements : children;
  return Array.isArray(inside) ? inside.filter(isObject) : [];
}

function findBrokenLimits(top: readonly Json[], all: readonly Nested[]): string[] {
  const broken: string[] = [];
  for (const { block, depth } of all) {
    const type = textOf(block['type']);
    if (!allowed.has(type)) broken.push(`a block of the type ${type} is not taken`);
    if (depth > limits.depth) broken.push(`containers more than ${limits.depth} deep`);
    if (listChildren(block).length > limits.children)
      broken.push(`a ${type} with more than ${limits.children} blocks`);
    if (type === 'table' && JSON.stringify(block['rows']).length > limits.table)
      broken.push(`a table of more than ${limits.table} characters`);
  }
  const ofType = (...types: string[]) => all.filter(({ block }) => types.includes(textOf(block['type'])));
  if (top.length > limits.blocks) broken.push(`${top.length} blocks, of which ${limits.blocks} are taken`);
  if (ofType('data_visualization').length > limits.charts) broken.push(`more than ${limits.charts} charts`);
  const characters = ofType('table', 'data_table').map(({ block }) => JSON.stringify(block['rows']).length);
  if (characters.reduce((sum, one) => sum + one, 0) > limits.tables)
    broken.push(`tables of more than ${limits.tables} characters`);
  return broken;
}

const privateHost =
  /^(?:localhost|.*\.(?:local|internal|localhost)|127\..*|10\..*|192\.168\..*|169\.254\..*|172\.(?:1[6-9]|2\d|3[01])\..*|\[.*\])$/u;

function findForbiddenAddresses(blocks: readonly Json[]): string[] {
  const found: string[] = [];
  JSON.stringify(blocks, (name, value: unknown) => {
    if (typeof value !== 'string' || !/(?:^|_)url$/u.test(name)) return value;
    const url = URL.canParse(value) ? new URL(value) : undefined;
    if (url?.protocol !== 'https:' || privateHost.test(url.hostname))
      found.push(`the address ${value.slice(0, 100)} is not public https`);
    return value;
  });
  return found;
}

/** The elements of a block that people can use. */
export function listElements(block: Json): Json[] {
  const { elements, accessory, element, actions } = block;
  return [elements, actions, [accessory, element]]
    .flatMap((some) => (Array.isArray(some) ? some : []))
    .filter((one): one is Json => isObject(one) && typeof one['action_id'] === 'string');
}

const callOf = /^tool:(.*)$/u;

/** The calls that an element makes: the value of a button, those of a menu's options. */
export function listCalls(
  element: Json,
): { readonly tool: string; readonly label: string; readonly value: unknown }[] {
  const tool = callOf.exec(textOf(element['action_id']))?.[1];
  if (tool === undefined) return [];
  const choices = Array.isArray(element['options']) ? element['options'].filter(isObject) : [element];
  return choices.map(({ text, value }) => ({
    tool,
    label: isObject(text) ? textOf(text['text']) : '',
    value,
  }));
}

/** A press has to be a call that the assistant can make. */
function findBrokenCall(element: Json, tools: readonly Json[]): string[] {
  return listCalls(element).flatMap(({ tool, value }) => {
    const listed = tools.find(({ name }) => name === tool);
    if (!listed) return [`a button calls ${tool}, which is not listed`];
    if (typeof value !== 'string') return [`a button of ${tool} without arguments as text`];
    if (value.length > limits.value) return [`a button of ${tool} with more than ${limits.value} characters`];
    const args = parseArguments(value);
    if (!args) return [`a button of ${tool} whose arguments are no JSON object`];
    const misfit = findMisfit(listed['inputSchema'], args);
    return misfit === undefined ? [] : [`a button of ${tool} whose arguments do not fit: ${misfit}`];
  });
}

export function parseArguments(value: string): Json | undefined {
  try {
    const args: unknown = JSON.parse(value);
    return isObject(args) ? args : undefined;
  } catch {
    return undefined;
  }
}

/** Slack strips every other action_id. */
function withoutForeignAction(element: Json, dead: string[]): Json {
  const { action_id: id, ...rest } = element;
  if (typeof id !== 'string' || callOf.test(id) || id.startsWith('input:')) return element;
  if (rest['url'] === undefined)
    dead.push(`the ${textOf(rest['type'])} ${id} calls no tool and does nothing`);
  return rest;
}
