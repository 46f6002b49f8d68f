// One of everything that Block Kit has, to see whether the page draws it.

const plain = (text: string) => ({ type: 'plain_text', text });
const mrkdwn = (text: string) => ({ type: 'mrkdwn', text });
const option = (value: string, text: string, description?: string) => ({
  text: plain(text),
  value,
  ...(description === undefined ? {} : { description: plain(description) }),
});
const rich = (text: string) => ({
  type: 'rich_text',
  elements: [{ type: 'rich_text_section', elements: [{ type: 'text', text }] }],
});

const pixel = 'https://example.com/pixel.png';
const regions = [
  { label: plain('Europe'), options: [option('de', 'Frankfurt'), option('uk', 'London')] },
  { label: plain('Asia'), options: [option('sg', 'Singapore'), option('jp', 'Tokyo')] },
];

const card = (title: string, actionId: string) => ({
  type: 'card',
  title: mrkdwn(`*${title}*`),
  subtitle: mrkdwn('Pull zone'),
  body: mrkdwn('3.1 TB of 5 TB this month'),
  actions: [{ type: 'button', action_id: actionId, text: plain('Open') }],
});

const mrkdwnText = [
  '*bold* _italic_ ~struck~ `code` and *_both_*, snake_case_name stays',
  '> a quote with <https://example.com|a link>',
  '• first point',
  '• second point',
  'Hello <@U0ALICE00>, see <#C0OPS0000> at <!date^1763720400^{date_short_pretty} {time}|21 Nov>: 1 &lt; 2 &amp;&amp; 3 &gt; 2 :white_check_mark: :no-such-emoji:',
  '```const a = "<b>not bold</b>";```',
].join('\n');

const words = [
  { type: 'header', text: plain('A header') },
  { type: 'section', text: mrkdwn(mrkdwnText) },
  {
    type: 'section',
    text: plain('Plain *stars* stay'),
    accessory: { type: 'image', image_url: pixel, alt_text: 'one green pixel' },
  },
  {
    type: 'section',
    fields: [mrkdwn('*Zones*\n10'), mrkdwn('*Charges*\n$12.40'), plain('Plain field'), mrkdwn('`field`')],
  },
  { type: 'divider' },
  {
    type: 'context',
    elements: [
      { type: 'image', image_url: pixel, alt_text: 'tiny' },
      mrkdwn('Updated *just now*'),
      plain('by the app'),
    ],
  },
  {
    type: 'image',
    image_url: 'https://example.com/elsewhere.png',
    alt_text: 'a picture from elsewhere',
    title: plain('A picture that is not loaded'),
  },
  {
    type: 'rich_text',
    elements: [
      {
        type: 'rich_text_section',
        elements: [
          { type: 'text', text: 'Rich ' },
          { type: 'text', text: 'bold', style: { bold: true } },
          { type: 'text', text: ' and ' },
          { type: 'link', url: 'https://example.com/rich', text: 'a rich link' },
          { type: 'text', text: ' for ' },
          { type: 'user', user_id: 'U0BOB0000' },
          { type: 'emoji', name: 'rocket' },
        ],
      },
      {
        type: 'rich_text_list',
        style: 'ordered',
        elements: [{ type: 'rich_text_section', elements: [{ type: 'text', text: 'rich item' }] }],
      },
      { type: 'rich_text_quote', elements: [{ type: 'text', text: 'rich quote' }] },
      { type: 'rich_text_preformatted', elements: [{ type: 'text', text: 'rich code' }] },
    ],
  },
  { type: 'markdown', text: '## Markdown\n\n1. one\n2. **two**\n\n| a | b |\n|---|---|\n| 1 | 2 |\n' },
];

const controls = [
  {
    type: 'actions',
    elements: [
      { type: 'button', action_id: 'gallery:plain', text: plain('Plain button'), value: 'p' },
      {
        type: 'button',
        action_id: 'gallery:primary',
        text: plain('Primary button'),
        style: 'primary',
        value: 'q',
      },
      {
        type: 'button',
        action_id: 'gallery:danger',
        text: plain('Danger button'),
        style: 'danger',
        value: 'd',
        confirm: {
          title: plain('Really?'),
          text: mrkdwn('This *cannot* be undone.'),
          confirm: plain('Do it'),
          deny: plain('Stop'),
          style: 'danger',
        },
      },
      {
        type: 'button',
        action_id: 'gallery:url',
        text: plain('Link button'),
        url: 'https://example.com/button',
      },
      {
        type: 'overflow',
        action_id: 'gallery:overflow',
        options: [option('a', 'First of the menu'), option('b', 'Second of the menu')],
      },
    ],
  },
  {
    type: 'actions',
    elements: [
      {
        type: 'static_select',
        action_id: 'gallery:static',
        placeholder: plain('A region'),
        option_groups: regions,
      },
      {
        type: 'external_select',
        action_id: 'gallery:external',
        placeholder: plain('A zone'),
        min_query_length: 1,
      },
      { type: 'users_select', action_id: 'gallery:user', placeholder: plain('A person') },
      {
        type: 'conversations_select',
        action_id: 'gallery:conversation',
        placeholder: plain('A conversation'),
      },
      { type: 'channels_select', action_id: 'gallery:channel', placeholder: plain('A channel') },
    ],
  },
  {
    type: 'actions',
    elements: [
      { type: 'datepicker', action_id: 'gallery:date', initial_date: '2026-11-20' },
      { type: 'timepicker', action_id: 'gallery:time', initial_time: '09:30' },
      { type: 'datetimepicker', action_id: 'gallery:datetime', initial_date_time: 1_763_720_400 },
    ],
  },
  {
    type: 'section',
    text: mrkdwn('Choose several'),
    accessory: {
      type: 'multi_static_select',
      action_id: 'gallery:multi',
      placeholder: plain('Regions'),
      options: [option('x', 'Chip one'), option('y', 'Chip two')],
      initial_options: [option('x', 'Chip one')],
    },
  },
  {
    type: 'actions',
    elements: [
      {
        type: 'checkboxes',
        action_id: 'gallery:boxes',
        options: [option('1', 'Box one', 'what it means'), option('2', 'Box two')],
        initial_options: [option('2', 'Box two')],
      },
      {
        type: 'radio_buttons',
        action_id: 'gallery:radio',
        options: [option('1', 'Radio one'), option('2', 'Radio two')],
      },
    ],
  },
  {
    type: 'context_actions',
    elements: [
      {
        type: 'feedback_buttons',
        action_id: 'gallery:feedback',
        positive_button: { text: plain('Good answer'), value: 'good' },
        negative_button: { text: plain('Bad answer'), value: 'bad' },
      },
      { type: 'icon_button', action_id: 'gallery:icon', icon: 'trash', text: plain('Delete it') },
    ],
  },
];

const boxes = [
  card('A card', 'gallery:card'),
  { type: 'carousel', elements: [card('Carousel one', 'gallery:c1'), card('Carousel two', 'gallery:c2')] },
  {
    type: 'container',
    title: plain('A container'),
    subtitle: plain('folded away'),
    is_collapsible: true,
    child_blocks: [{ type: 'section', text: mrkdwn('inside the container') }],
  },
  {
    type: 'task_card',
    task_id: 't1',
    title: 'A task',
    status: 'in_progress',
    details: rich('task details'),
    sources: [{ type: 'url', url: 'https://example.com/source', text: 'a source' }],
  },
  {
    type: 'plan',
    title: 'A plan',
    tasks: [
      { type: 'task_card', task_id: 't2', title: 'Done part', status: 'complete' },
      {
        type: 'task_card',
        task_id: 't3',
        title: 'Failed part',
        status: 'error',
        output: rich('task output'),
      },
    ],
  },
  {
    type: 'video',
    title: plain('A video'),
    video_url: 'https://example.com/video',
    thumbnail_url: 'https://example.com/still.png',
    alt_text: 'a still',
    author_name: 'Ann',
  },
];

const number = (value: number) => ({ type: 'raw_number', value, text: String(value) });
const raw = (text: string) => ({ type: 'raw_text', text });

const points = (...values: number[]) => values.map((value, index) => ({ label: `day ${index + 1}`, value }));

const charts = [
  {
    type: 'data_visualization',
    title: 'Requests a day',
    chart: {
      type: 'line',
      series: [
        { name: 'hits', data: points(3, 5, 4) },
        { name: 'misses', data: points(1, 0, 2) },
      ],
      axis_config: { categories: ['day 1', 'day 2', 'day 3'], y_label: 'Requests' },
    },
  },
  {
    type: 'data_visualization',
    title: 'Shares',
    chart: {
      type: 'pie',
      segments: [
        { label: 'Europe', value: 3 },
        { label: 'Asia', value: 1 },
      ],
    },
  },
];

const inCell = (element: object) => ({
  type: 'rich_text',
  elements: [{ type: 'rich_text_section', elements: [element] }],
});
const who = inCell({ type: 'user', user_id: 'U0BOB0000' });
const moment = inCell({ type: 'date', timestamp: 1_763_720_400, format: '{time}', fallback: '10:20' });

const tables = [
  {
    type: 'table',
    column_settings: [{ align: 'left' }, { align: 'right' }],
    rows: [
      [raw('Zone'), raw('Used')],
      [rich('shop'), raw('3.1 TB')],
    ],
  },
  {
    type: 'data_table',
    caption: 'A table to sort',
    page_size: 2,
    rows: [
      [raw('Name'), raw('Requests'), raw('Who'), raw('When')],
      ...[30, 4, 200].map((value) => [raw(`row ${value}`), number(value), who, moment]),
    ],
  },
];

/** Blocks that no app can post: a file that people shared, and a block of a future Slack. */
export const fromElsewhere = [
  { type: 'file', block_id: 'f', source: 'remote', external_id: 'A remote file' },
  { type: 'hologram', block_id: 'h' },
];

/** Messages, by what they hold. */
export const gallery: Readonly<Record<string, readonly object[]>> = {
  words,
  controls,
  boxes,
  tables,
  charts,
};

const field = (name: string, label: string, element: object, more: object = {}) => ({
  type: 'input',
  block_id: name,
  label: plain(label),
  element: { action_id: name, ...element },
  ...more,
});

/** A form with every kind of input; all may be left empty but the first. */
export const galleryForm = {
  type: 'modal',
  callback_id: 'gallery:submit',
  title: plain('Every input'),
  submit: plain('Send'),
  close: plain('Never mind'),
  blocks: [
    { type: 'alert', level: 'warning', text: mrkdwn('An *alert*') },
    field('text', 'One line', { type: 'plain_text_input', min_length: 3 }, { hint: plain('At least three') }),
    field('lines', 'Several lines', { type: 'plain_text_input', multiline: true }, { optional: true }),
    field('email', 'E-mail', { type: 'email_text_input' }, { optional: true }),
    field('url', 'Web address', { type: 'url_text_input' }, { optional: true }),
    field(
      'number',
      'Number',
      { type: 'number_input', is_decimal_allowed: false, max_value: '10' },
      { optional: true },
    ),
    field('rich', 'Rich text', { type: 'rich_text_input' }, { optional: true }),
    field('file', 'Files', { type: 'file_input', filetypes: ['csv'] }, { optional: true }),
    field('region', 'Region', { type: 'static_select', option_groups: regions }, { optional: true }),
    field('people', 'People', { type: 'multi_users_select' }, { optional: true }),
    field('places', 'Places', { type: 'multi_conversations_select' }, { optional: true }),
    field('channels', 'Channels', { type: 'multi_channels_select' }, { optional: true }),
    field('zones', 'Zones', { type: 'multi_external_select', min_query_length: 1 }, { optional: true }),
    field('day', 'Day', { type: 'datepicker' }, { optional: true }),
    field('boxes', 'Boxes', { type: 'checkboxes', options: [option('1', 'Tick me')] }, { optional: true }),
    field(
      'radio',
      'Radio',
      { type: 'radio_buttons', options: [option('1', 'Take me'), option('2', 'Or me')] },
      { optional: true },
    ),
  ],
};
