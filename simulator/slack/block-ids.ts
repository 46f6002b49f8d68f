import { randomBytes } from 'node:crypto';
import type { Json } from './world.ts';
import { isObject } from './world.ts';

/** A copy of blocks in which every block and every interactive element has an id, as Slack gives them out. */
export function assignIds(blocks: readonly Json[]): Json[] {
  return blocks.map((block) => {
    const copy: Json = { ...block, block_id: block['block_id'] ?? shortId() };
    for (const member of ['accessory', 'element'] as const) {
      if (isObject(copy[member])) copy[member] = withActionId(copy[member]);
    }
    for (const member of ['elements', 'actions'] as const) {
      if (copy['type'] !== 'rich_text' && Array.isArray(copy[member]))
        copy[member] = copy[member].map(withActionId);
    }
    if (Array.isArray(copy['child_blocks'])) copy['child_blocks'] = assignIds(copy['child_blocks'] as Json[]);
    return copy;
  });
}

/** Every interactive element with the block it is in, inside containers and cards too. */
export function findElements(blocks: readonly Json[]): { block: Json; element: Json }[] {
  return blocks.flatMap((block) => {
    const inside = [
      block['accessory'],
      block['element'],
      ...list(block['elements']),
      ...list(block['actions']),
    ];
    const own = inside.filter((element): element is Json => isObject(element) && 'action_id' in element);
    const cards = block['type'] === 'carousel' ? (list(block['elements']) as Json[]) : [];
    return [
      ...own.map((element) => ({ block, element })),
      ...findElements([...(list(block['child_blocks']) as Json[]), ...cards]),
    ];
  });
}

function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function withActionId(element: unknown): unknown {
  if (!isObject(element) || ['mrkdwn', 'plain_text', 'image'].includes(String(element['type'])))
    return element;
  if (element['type'] === 'card') return assignIds([element])[0];
  return { ...element, action_id: element['action_id'] ?? shortId() };
}

function shortId(): string {
  return randomBytes(4).toString('base64url').slice(0, 5);
}
