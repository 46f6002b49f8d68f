// One file a block type. What this page does not know is shown as a labelled box, never dropped.

import { el, keep } from '../dom.js';
import { dataTable } from './data-table.js';
import { dataVisualization } from './data-visualization.js';
import { actions, contextActions, input, section } from './fields.js';
import { card, carousel, container, plan, taskCard } from './groups.js';
import { file, image, video } from './media.js';
import { table } from './tables.js';
import { alert, context, divider, header, markdownBlock, richTextBlock } from './text-blocks.js';

const drawers = {
  actions,
  alert,
  card,
  carousel,
  container,
  context,
  context_actions: contextActions,
  data_table: dataTable,
  data_visualization: dataVisualization,
  divider,
  file,
  header,
  image,
  input,
  markdown: markdownBlock,
  plan,
  rich_text: richTextBlock,
  section,
  table,
  task_card: taskCard,
  video,
};

function unknown(block, why) {
  return el(
    'details',
    { class: 'unknown' },
    el('summary', {}, why ?? `Block type “${block?.type}” is not drawn by this playground`),
    el('pre', {}, el('code', {}, JSON.stringify(block, undefined, 2))),
  );
}

/** Draws one block of a surface; a broken one becomes a box that says so. */
export function drawBlock(block, surface) {
  let node;
  try {
    const draw = drawers[block.type];
    node = draw ? draw(block, surface) : unknown(block);
  } catch (error) {
    node = unknown(block, `This ${block?.type} block could not be drawn: ${error.message}`);
  }
  node.classList.add('block');
  node.dataset.block = block?.type ?? 'none';
  return node;
}

/** Keeps `parent` showing exactly these blocks; those that did not change are not touched until the surface's `epoch` does. */
export function drawBlocks(parent, blocks, surface) {
  const items = blocks.map((block, index) => {
    const named = { ...block, block_id: block.block_id ?? `#${index}` };
    return {
      key: named.block_id,
      version: `${surface.epoch ?? 0} ${JSON.stringify(block)}`,
      draw: () => drawBlock(named, surface),
    };
  });
  keep(parent, items);
}
