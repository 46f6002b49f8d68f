import { isObject, textOf } from '../world.ts';
import { dataVisualization } from './charts.ts';
import { elements, exactlyOne, image, inActions, inInput, inSection } from './elements.ts';
import { richText } from './rich-text.ts';
import {
  anyText,
  byType,
  flag,
  httpsUrl,
  id,
  list,
  mrkdwn,
  oneOf,
  plain,
  type Report,
  type Rule,
  type Surface,
  shape,
  string,
  url,
} from './rules.ts';
import { dataTable, table } from './tables.ts';

const base = { block_id: id };
const button = byType(elements, ['button']);
const imageElement = byType({ image });
const markdownText = 12_000;

const input: Rule = shape(
  { label: plain(2000), element: byType(elements, inInput) },
  { ...base, hint: plain(2000), optional: flag, dispatch_action: flag },
  (value, at, report) => {
    report.count('input');
    const { element } = value;
    if (isObject(element) && element['type'] === 'file_input' && report.surface !== 'modal') {
      report.refuse(`${at}/element/type`, 'file_input works in modals only');
    }
  },
);

const section: Rule = shape(
  {},
  {
    ...base,
    text: anyText(3000),
    fields: list(anyText(2000), 10),
    accessory: byType(elements, inSection),
    expand: flag,
  },
  (value, at, report) => {
    if (value['text'] === undefined && value['fields'] === undefined)
      report.refuse(at, 'missing required field: text');
  },
);

const markdown: Rule = shape({ text: string(markdownText) }, base, (value, at, report) => {
  const length = typeof value['text'] === 'string' ? value['text'].length : 0;
  if (report.count('markdown text', length) > markdownText)
    report.refuse(at, `must be less than ${markdownText + 1} characters in all markdown blocks`);
});

const imageSource = {
  image_url: httpsUrl,
  slack_file: shape({}, { id: string(255), url }, exactlyOne('id', 'url')),
};
const imageBlock = shape(
  { alt_text: string(2000) },
  { ...base, ...imageSource, title: plain(2000) },
  exactlyOne('image_url', 'slack_file'),
);

const card: Rule = shape(
  {},
  {
    ...base,
    hero_image: imageElement,
    icon: imageElement,
    title: mrkdwn(150),
    subtitle: mrkdwn(150),
    body: mrkdwn(200),
    subtext: mrkdwn(200),
    actions: list(button, 3),
  },
  (value, at, report) => {
    const enough = ['hero_image', 'title', 'actions', 'body'].some((member) => value[member] !== undefined);
    if (!enough) report.refuse(at, 'must have at least one of hero_image, title, actions, body');
  },
);

const alert: Rule = shape(
  { text: anyText(3000) },
  { ...base, level: oneOf('default', 'info', 'warning', 'error', 'success') },
  ({ text }, at, report) => {
    // Two sources disagree on this limit, so it is this project's own.
    if (isObject(text) && typeof text['text'] === 'string' && text['text'].length > 200)
      report.advise(at, 'an alert should be at most 200 characters');
  },
);

const source = byType({ url: shape({ url, text: string(3000) }) });
const taskCard: Rule = shape(
  { task_id: string(255), title: string(3000), status: oneOf('pending', 'in_progress', 'complete', 'error') },
  { ...base, details: richText, output: richText, sources: list(source, 100, 0) },
);

const video: Rule = shape(
  { video_url: httpsUrl, thumbnail_url: url, alt_text: string(2000), title: plain(199) },
  {
    ...base,
    title_url: httpsUrl,
    author_name: string(49),
    provider_name: string(255),
    provider_icon_url: url,
    description: plain(2000),
  },
);

const notAllowed: Rule = (_value, at, report) =>
  report.refuse(`${at}/type`, 'a file block cannot be added by an app');

const simple: Record<string, Rule> = {
  actions: shape({ elements: list(byType(elements, inActions), 25) }, base, (value, at, report) => {
    uniqueActionIds(value, at, report);
    const shown = Array.isArray(value['elements']) ? value['elements'].length : 0;
    if (report.surface === 'message' && shown > 5)
      report.advise(at, `the desktop client shows 5 of these ${shown} elements and hides the rest`);
  }),
  context: shape({ elements: list(byType({ ...textElements(), image }), 10) }, base),
  divider: shape({}, base),
  file: notAllowed,
  header: shape({ text: plain(150) }, base),
  image: imageBlock,
  input,
  rich_text: richText,
  section,
  table,
  video,
};

/** Every block by its type, with the limits of docs.slack.dev/reference/block-kit. */
const blockRules: Record<string, Rule> = {
  ...simple,
  alert,
  card,
  carousel: shape({ elements: list(byType({ card }), 10) }, base),
  container: shape(
    { child_blocks: list(block(Object.keys(simple)), 10) },
    {
      ...base,
      title: plain(150),
      rich_text_title: richText,
      subtitle: anyText(150),
      width: oneOf('narrow', 'standard', 'wide', 'full'),
      icon: imageElement,
      is_collapsible: flag,
      default_collapsed: flag,
      has_header_divider: flag,
    },
    (value, at, report) => {
      if (value['title'] === undefined && value['rich_text_title'] === undefined)
        report.refuse(at, 'must have title or rich_text_title');
      if (value['default_collapsed'] === true && value['is_collapsible'] !== true)
        report.refuse(at, 'default_collapsed needs is_collapsible');
    },
  ),
  context_actions: shape(
    { elements: list(byType(elements, ['feedback_buttons', 'icon_button']), 5) },
    base,
    uniqueActionIds,
  ),
  data_table: dataTable,
  data_visualization: dataVisualization,
  markdown,
  task_card: taskCard,
  plan: shape({ title: string(3000) }, { ...base, tasks: list(byType({ task_card: taskCard }), 50, 0) }),
};

const message: readonly Surface[] = ['message'];
/** Where a block works that does not work everywhere. */
const surfaces: Readonly<Record<string, readonly Surface[]>> = {
  alert: ['modal'],
  carousel: ['message', 'home'],
  container: message,
  context_actions: message,
  data_table: message,
  data_visualization: message,
  markdown: message,
  plan: message,
  table: message,
  task_card: message,
};
const names = { message: 'messages', modal: 'modals', home: 'the Home tab', suggestion: 'menus' };

/** The blocks of a message or view: their number, each by its type, ids that occur once. */
export function blocks(surface: Surface): Rule {
  return list(block(Object.keys(blockRules)), surface === 'message' ? 50 : 100, 0);
}

function block(allowed: readonly string[]): Rule {
  return (value, at, report) => {
    if (isObject(value)) {
      const { type, block_id: blockId } = value;
      const places = surfaces[String(type)];
      if (places && !places.includes(report.surface)) {
        const where = places.map((place) => names[place]).join(' and ');
        return report.refuse(`${at}/type`, `${String(type)} works in ${where} only`);
      }
      if (typeof blockId === 'string' && !report.first('block_id', blockId))
        report.refuse(`${at}/block_id`, `block_id already exists: ${blockId}`);
    }
    byType(blockRules, allowed)(value, at, report);
  };
}

function uniqueActionIds(value: Record<string, unknown>, at: string, report: Report): void {
  const inside = Array.isArray(value['elements']) ? value['elements'].filter(isObject) : [];
  const seen = new Set<unknown>();
  for (const [index, { action_id: actionId }] of inside.entries()) {
    if (actionId !== undefined && seen.has(actionId))
      report.refuse(`${at}/elements/${index}/action_id`, `action_id already exists: ${textOf(actionId)}`);
    seen.add(actionId);
  }
}

function textElements(): Record<string, Rule> {
  return { plain_text: plain(3000), mrkdwn: mrkdwn(3000) };
}
