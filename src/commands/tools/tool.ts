import { z } from 'zod';
import type { Right } from '../../auth/policy/policy.ts';
import { UserError } from '../../errors.ts';
import type { Message } from '../../views/blocks/blocks.ts';
import { pluralize } from '../../views/blocks/format.ts';
import { formatCode } from '../../views/blocks/text.ts';
import { describeNoZone } from '../../views/zones/rows.ts';
import type { Context } from '../define.ts';
import { lookUpZone } from '../zones/lookup.ts';

export interface ToolCall {
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

/** Made by the assistant or pressed by a person. */
export interface NextCall extends ToolCall {
  readonly label: string;
}

export interface ToolAnswer {
  /** With the number first; the message's text, if left out. */
  readonly summary?: string;
  readonly asOf?: Date;
  readonly warnings?: readonly (string | false)[];
  /** One of one, if left out. */
  readonly counts?: readonly [shown: number, total: number];
  /** Names are stable; what is missing is undefined, times are dates. */
  readonly data: object;
  readonly next: readonly NextCall[];
  readonly message?: Message;
}

/** Each of `instead` replaces arguments of the call. */
export class ToolRefusal extends UserError {
  readonly instead: readonly ToolCall['arguments'][];

  constructor(message: string, hint: string, instead: readonly ToolCall['arguments'][]) {
    super(message, hint);
    this.instead = instead;
  }
}

/** Reads, or puts a request into the ledger; never writes to the CDN. */
export interface Tool {
  /** `verb_noun`; never changes, since assistants and permissions keep it. */
  readonly name: string;
  /** Words behind it are the tool's first argument. */
  readonly command: string;
  readonly title: string;
  readonly description: string;
  readonly needs: Right;
  /** `destroys` where the request deletes something. */
  readonly proposes?: 'changes' | 'destroys';
  /** Lists what its arguments name; the list of zones, if left out. */
  readonly source?: string;
  /** Ask for less, where a call took too long. */
  readonly narrower?: ToolCall['arguments'];
  readonly input: z.ZodObject;
  /** `via`: `assistant`, or `client laptop` by a token. @throws UserError with what a person could do */
  readonly run: (args: ToolCall['arguments'], context: Context, via: string) => Promise<ToolAnswer>;
}

export function defineTool<Input extends z.ZodObject>({
  run,
  ...tool
}: Omit<Tool, 'needs' | 'run' | 'input'> & {
  /** `read`, if left out. */
  readonly needs?: Right;
  readonly input: Input;
  readonly run: (args: z.output<Input>, context: Context, via: string) => Promise<ToolAnswer>;
}): Tool {
  return { needs: 'read', ...tool, run: (args, context, via) => run(args as z.output<Input>, context, via) };
}

export const answerSchema = z.object({
  summary: z.string(),
  as_of: z.string().describe('ISO 8601, UTC'),
  warnings: z.array(z.string()),
  shown: z.number().int().describe('How many of the total stand in data'),
  total: z.number().int(),
  data: z
    .record(z.string(), z.unknown())
    .describe('What was found: times in ISO 8601, null where nothing was reported'),
  next: z
    .array(z.object({ tool: z.string(), arguments: z.record(z.string(), z.unknown()) }))
    .describe('Calls that help next'),
});

/** Times in ISO 8601 in UTC, null for what is missing. */
export function toFacts(data: object): unknown {
  return JSON.parse(JSON.stringify(data, (_, value: unknown) => value ?? null));
}

export function toDate(at: number | undefined): Date | undefined {
  return at === undefined ? undefined : new Date(at);
}

/** Names, hostnames and ids have less than 200 characters. */
export function zoneArgument() {
  return z.string().trim().min(1).max(200).describe('Its name, a hostname or its ID');
}

export const allZones: NextCall = { label: 'All zones', tool: 'list_zones', arguments: {} };

export function toZone({ id, name }: { readonly id: string; readonly name: string }): NextCall {
  return { label: name || id, tool: 'get_zone', arguments: { zone: id } };
}

/** Three at most, each once; else the list of all. */
export function toZones(zones: readonly { readonly id: string; readonly name: string }[]): NextCall[] {
  const calls = new Map(zones.map((zone) => [zone.id, toZone(zone)]));
  return calls.size > 0 ? [...calls.values()].slice(0, 3) : [allZones];
}

export function toOriginErrors({ id }: { readonly id: string }): NextCall {
  return { label: 'Origin errors', tool: 'list_origin_errors', arguments: { zone: id } };
}

/** @throws ToolRefusal with the zones it may be */
export async function findZone(typed: string, context: Context, argument = 'zone') {
  const found = await lookUpZone(typed, context);
  if (found.kind === 'one') return found.zone;
  if (found.kind === 'none')
    throw new ToolRefusal(
      describeNoZone(found),
      found.near.length > 0 ? 'Similar names exist.' : '`/cdn zones` lists those your key sees.',
      found.near.slice(0, mostNamed).map((name) => ({ [argument]: name })),
    );
  const few = found.zones.slice(0, mostNamed);
  const names = few.map(({ id, name }) => formatCode(`${name} (ID ${id})`, 80));
  throw new ToolRefusal(
    `${pluralize(found.zones.length, 'zone')} match ${formatCode(found.words, 60)}: ${names.join(', ')}${found.zones.length > few.length ? ' …' : ''}`,
    'Name one of them by its ID.',
    few.map(({ id }) => ({ [argument]: id })),
  );
}

const mostNamed = 5;
