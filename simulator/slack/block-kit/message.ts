import type { Json } from '../world.ts';
export interface Checked {
  error?: string;
  messages: string[];
  problems: string[];
}
export function checkMessage(
  _body: Json,
  _options: { label: string; ephemeral?: boolean; update?: boolean },
): Checked {
  return { messages: [], problems: [] };
}
