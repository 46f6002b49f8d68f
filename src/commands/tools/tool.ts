import { z } from 'zod';
import type { Right } from '../../auth/policy/policy.ts';
import { UserError } from '../../errors.ts';
import type { Message } from '../../views/blocks/blocks.ts';
import type { Context } from '../define.ts';

export interface ToolCall {
  /** The name of the tool. */
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

/** A call that helps next, as the assistant makes it or a person presses it. */
export interface NextCall extends ToolCall {
  /** Of the button. */
  readonly label: string;
}

/** What a tool found. Times are ISO 8601 in UTC, numbers are numbers, unreported values are null. */
export interface ToolAnswer<Data = unknown> {
  /** One sentence, with the number first; that of the message, if left out. */
  readonly summary?: string;
  /** Now, if left out. */
  readonly asOf?: Date;
  readonly warnings?: readonly (string | false)[];
  /** Things in `data`, and things there are; one, if left out. */
  readonly shown?: number;
  readonly total?: number;
  readonly data: Data;
  readonly next: readonly NextCall[];
  /** The answer as people see it in Slack. */
  readonly message?: Message;
}

/** A refusal that other arguments help against: each of `instead` replaces those of its names in the call. */
export class ToolRefusal extends UserError {
  readonly instead: readonly ToolCall['arguments'][];

  constructor(message: string, hint: string, instead: readonly ToolCall['arguments'][]) {
    super(message, hint);
    this.instead = instead;
  }
}

/** A command as a tool of an assistant: it reads, or puts a request into the ledger, and never writes to the CDN. */
export interface Tool {
  /** `verb_noun`. Assistants and people's permissions keep it, so it never changes. */
  readonly name: string;
  /** The typed command that it stands for: words behind it are the tool's first argument. */
  readonly command: string;
  readonly title: string;
  readonly description: string;
  readonly needs: Right;
  /** It puts a request into the ledger: `destroys` where that deletes something. */
  readonly proposes?: 'changes' | 'destroys';
  /** The tool that lists what its arguments name, if that is not the list of zones. */
  readonly source?: string;
  /** Arguments that ask for less, where a call took too long. */
  readonly narrower?: ToolCall['arguments'];
  readonly input: z.ZodObject;
  readonly data: z.ZodType;
  /** With parsed arguments. `via`: `assistant`, or `client laptop` by a token. @throws UserError with what a person could do */
  readonly run: (args: ToolCall['arguments'], context: Context, via: string) => Promise<ToolAnswer>;
}

/** Ties the types of arguments and data to the work. */
export function defineTool<Input extends z.ZodObject, Data extends z.ZodType>({
  run,
  ...tool
}: Omit<Tool, 'run' | 'input' | 'data'> & {
  readonly input: Input;
  readonly data: Data;
  readonly run: (args: z.output<Input>, context: Context, via: string) => Promise<ToolAnswer<z.input<Data>>>;
}): Tool {
  return { ...tool, run: (args, context, via) => run(args as z.output<Input>, context, via) };
}

/** The form of every answer; `data` is the tool's own. */
export function answerSchema({ data }: Pick<Tool, 'data'>) {
  return z.object({
    summary: z.string(),
    as_of: z.string().describe('ISO 8601, UTC'),
    warnings: z.array(z.string()),
    shown: z.number().int().describe('How many of the total stand in data'),
    total: z.number().int(),
    data,
    next: z
      .array(z.object({ tool: z.string(), arguments: z.record(z.string(), z.unknown()) }))
      .describe('Calls that help next'),
  });
}

/** A time for data. */
export function toIso(at: number | Date | undefined): string | null {
  return at === undefined ? null : new Date(at).toISOString();
}
