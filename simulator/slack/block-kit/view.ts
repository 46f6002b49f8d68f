import type { Json } from '../world.ts';
import type { Checked } from './message.ts';
export function checkView(_view: unknown, _label: string, _type?: string): Checked {
  return { messages: [], problems: [] };
}
export function checkSuggestions(_body: Json, _label: string): Checked {
  return { messages: [], problems: [] };
}
