// Which parts of a view hold values.

const holdsNothing = new Set(['button', 'feedback_buttons', 'icon_button', 'overflow', 'workflow_button']);

/** Every input and every other control of a view that holds a value, with its block. */
export function controls(view) {
  const inside = (blocks) =>
    blocks.flatMap((block) => [
      ...[block.element, block.accessory, ...(block.type === 'actions' ? block.elements : [])]
        .filter((element) => element?.action_id && !holdsNothing.has(element.type))
        .map((element) => ({ block, element })),
      ...inside(block.child_blocks ?? []),
    ]);
  return inside(view.blocks);
}
