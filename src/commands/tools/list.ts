import type { Failure } from '../../views/blocks/failure.ts';
import { listOriginErrors } from './origin-errors.ts';
import {
  compareZones,
  getApp,
  getScript,
  getUploadScanning,
  getZone,
  listZoneChanges,
  listZones,
} from './reads.ts';
import { getRequest, listMyRequests, proposeVariableChange, proposeVolumeDeletion } from './requests.ts';
import type { Tool, ToolCall, ToolRefusal } from './tool.ts';

/** In the order in which assistants see them, the same for every person. */
export const tools: readonly Tool[] = [
  listZones,
  getZone,
  listOriginErrors,
  getApp,
  getScript,
  getUploadScanning,
  listZoneChanges,
  compareZones,
  listMyRequests,
  getRequest,
  proposeVolumeDeletion,
  proposeVariableChange,
];

const typedCommand = /\/cdn ([a-z]+(?: [^\s`.,;:]+)*)/gu;
const mostNext = 3;

/**
 * For a model: typed commands of the hint become tools, with calls that help. None where only a person can do
 * something.
 */
export function adviseModel(
  { hint = '', offer, isTransient }: Pick<Failure, 'hint' | 'offer' | 'isTransient'>,
  failed: {
    readonly tool: Tool;
    readonly given: ToolCall['arguments'];
    readonly instead: ToolRefusal['instead'];
  },
): { readonly hint: string; readonly next: readonly ToolCall[] } {
  const { tool, given, instead } = failed;
  const others = isTransient && instead.length === 0 ? [{}] : instead;
  if (others.length > 0)
    return { hint, next: others.map((other) => ({ tool: tool.name, arguments: { ...given, ...other } })) };
  if (typeof offer === 'string') return { hint, next: [] };
  const named = [...hint.matchAll(typedCommand)].map(([, words = '']) => words);
  const typed = [...(offer ?? []).map(({ types }) => types), ...named];
  const calls = typed.flatMap((words) => toToolCall(words) ?? []);
  const source = { tool: tool.source ?? 'list_zones', arguments: {} };
  const next = new Map((calls.length > 0 ? calls : [source]).map((call) => [JSON.stringify(call), call]));
  return {
    hint: hint.replaceAll(typedCommand, (whole, words: string) => toToolCall(words)?.tool ?? whole),
    next: [...next.values()].slice(0, mostNext),
  };
}

/** Undefined where no tool can. */
function toToolCall(typed: string): ToolCall | undefined {
  const [command, ...words] = typed.split(' ');
  for (const { name: tool, command: own, input } of tools) {
    const [first] = Object.keys(input.shape);
    const given = first !== undefined && words.length > 0 ? { [first]: words.join(' ') } : {};
    if (own === command && input.safeParse(given).success) return { tool, arguments: given };
  }
  return undefined;
}
