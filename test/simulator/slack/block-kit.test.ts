import { expect, test } from 'vitest';
import { checkMessage, checkSuggestions, checkView } from '../../../simulator/slack/block-kit/checks.ts';

type Json = Record<string, unknown>;
const x = (length: number): string => 'x'.repeat(length);
const plain = (length: number) => ({ type: 'plain_text', text: x(length) });
const mrkdwn = (length: number) => ({ type: 'mrkdwn', text: x(length) });
const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));
const option = (index: number, text = 5, value?: string) => ({
  text: plain(text),
  value: value ?? `v${index}`,
});
const button = (more: Json = {}) => ({ type: 'button', text: plain(5), ...more });
const section = (more: Json = {}) => ({ type: 'section', text: plain(5), ...more });
const actions = (...elements: Json[]) => ({ type: 'actions', elements });
const select = (more: Json) => actions({ type: 'static_select', action_id: 'a', ...more });
const input = (element: Json, more: Json = {}) => ({ type: 'input', label: plain(5), element, ...more });
const cells = (count: number, length = 1) => times(count, () => ({ type: 'raw_text', text: x(length) }));
const dataTable = (rows: unknown[], more: Json = {}) => ({ type: 'data_table', caption: 'c', rows, ...more });
const options = (count: number) => times(count, (index) => option(index));
const sections = (characters: number) => times(5, () => section({ text: plain(characters / 5) }));
const pie = (segments: number) => ({
  type: 'pie',
  segments: times(segments, (index) => ({ label: `s${index}`, value: 1 })),
});
const chart = (drawn: Json, more: Json = {}) => ({
  type: 'data_visualization',
  title: 't',
  chart: drawn,
  ...more,
});
const names = (count: number) => times(count, (index) => `c${index}`);
const axes = (count: number, more: Json = {}) => ({ categories: names(count), ...more });
const pointsOf = (labels: readonly string[]) => labels.map((label) => ({ label, value: 1 }));
const series = (count: number, name = 's') => ({ name, data: pointsOf(names(count)) });
const plot = (count: number, more: Json = {}) => ({
  type: 'bar',
  series: [series(count)],
  axis_config: axes(count),
  ...more,
});
const labelled = (...labels: string[]) => ({
  series: [{ name: 's', data: pointsOf(labels) }],
  axis_config: { categories: labels },
});
const rich = {
  type: 'rich_text',
  elements: [{ type: 'rich_text_section', elements: [{ type: 'date', timestamp: 1, format: '{time}' }] }],
};
const problemsOf = (blocks: Json[]) => checkMessage({ text: 't', blocks }, { label: 'm' });
const modal = (blocks: Json[], more: Json = {}) => ({ type: 'modal', title: plain(5), blocks, ...more });

// The largest allowed payload beside the smallest refused one, and the pointer to the error.
// biome-ignore format: one line a limit reads as the table it is
const messageLimits: [limit: string, allowed: Json[], refused: Json[], pointer: string][] = [
  ['50 blocks in a message', times(50, () => section()), times(51, () => section()), '/blocks'],
  ['3000 characters in a section', [section({ text: mrkdwn(3000) })], [section({ text: mrkdwn(3001) })], '/blocks/0/text/text'],
  ['no empty text', [section({ text: mrkdwn(1) })], [section({ text: mrkdwn(0) })], '/blocks/0/text/text'],
  ['10 fields', [{ type: 'section', fields: times(10, () => mrkdwn(1)) }], [{ type: 'section', fields: times(11, () => mrkdwn(1)) }], '/blocks/0/fields'],
  ['2000 characters in a field', [{ type: 'section', fields: [mrkdwn(2000)] }], [{ type: 'section', fields: [mrkdwn(2001)] }], '/blocks/0/fields/0/text'],
  ['a section has text or fields', [section()], [{ type: 'section' }], '/blocks/0'],
  ['150 characters in a header', [{ type: 'header', text: plain(150) }], [{ type: 'header', text: plain(151) }], '/blocks/0/text/text'],
  ['a header is plain text', [{ type: 'header', text: plain(1) }], [{ type: 'header', text: mrkdwn(1) }], '/blocks/0/text/type'],
  ['10 elements of context', [{ type: 'context', elements: times(10, () => mrkdwn(1)) }], [{ type: 'context', elements: times(11, () => mrkdwn(1)) }], '/blocks/0/elements'],
  ['25 actions', [actions(...times(5, () => button()))], [actions(...times(26, () => button()))], '/blocks/0/elements'],
  ['5 context actions', [{ type: 'context_actions', elements: times(5, () => ({ type: 'icon_button', icon: 'trash', text: plain(1) })) }], [{ type: 'context_actions', elements: times(6, () => ({ type: 'icon_button', icon: 'trash', text: plain(1) })) }], '/blocks/0/elements'],
  ['75 characters on a button', [actions(button({ text: plain(75) }))], [actions(button({ text: plain(76) }))], '/blocks/0/elements/0/text/text'],
  ['a button is plain text', [actions(button())], [actions(button({ text: mrkdwn(1) }))], '/blocks/0/elements/0/text/type'],
  ['2000 characters in a value', [actions(button({ value: x(2000) }))], [actions(button({ value: x(2001) }))], '/blocks/0/elements/0/value'],
  ['3000 characters in an address', [actions(button({ url: `https://e.eu/${ x(2987) }` }))], [actions(button({ url: `https://e.eu/${ x(2988) }` }))], '/blocks/0/elements/0/url'],
  ['75 characters in a label for screen readers', [actions(button({ accessibility_label: x(75) }))], [actions(button({ accessibility_label: x(76) }))], '/blocks/0/elements/0/accessibility_label'],
  ['two styles', [actions(button({ style: 'danger' }))], [actions(button({ style: 'green' }))], '/blocks/0/elements/0/style'],
  ['255 characters in an action_id', [actions(button({ action_id: x(255) }))], [actions(button({ action_id: x(256) }))], '/blocks/0/elements/0/action_id'],
  ['255 characters in a block_id', [section({ block_id: x(255) })], [section({ block_id: x(256) })], '/blocks/0/block_id'],
  ['block_ids that occur once', [section({ block_id: 'a' }), section({ block_id: 'b' })], [section({ block_id: 'a' }), section({ block_id: 'a' })], '/blocks/1/block_id'],
  ['action_ids that occur once in a block', [actions(button({ action_id: 'a' })), actions(button({ action_id: 'a' }))], [actions(button({ action_id: 'a' }), button({ action_id: 'a' }))], '/blocks/0/elements/1/action_id'],
  ['75 characters in an option', [select({ options: [option(0, 75)] })], [select({ options: [option(0, 76)] })], '/blocks/0/elements/0/options/0/text/text'],
  ['150 characters in an option value', [select({ options: [option(0, 1, x(150))] })], [select({ options: [option(0, 1, x(151))] })], '/blocks/0/elements/0/options/0/value'],
  ['75 characters in a description', [select({ options: [{ ...option(0), description: plain(75) }] })], [select({ options: [{ ...option(0), description: plain(76) }] })], '/blocks/0/elements/0/options/0/description/text'],
  ['100 options', [select({ options: times(100, option) })], [select({ options: times(101, (index) => option(index)) })], '/blocks/0/elements/0/options'],
  ['options or groups', [select({ options: [option(0)] })], [select({ })], '/blocks/0/elements/0'],
  ['100 groups', [select({ option_groups: times(100, (index) => ({ label: plain(1), options: [option(index)] })) })], [select({ option_groups: times(101, (index) => ({ label: plain(1), options: [option(index)] })) })], '/blocks/0/elements/0/option_groups'],
  ['an initial option that exists', [select({ options: [option(0)], initial_option: option(0) })], [select({ options: [option(0)], initial_option: option(1) })], '/blocks/0/elements/0/initial_option'],
  ['10 checkboxes', [actions({ type: 'checkboxes', options: times(10, (index) => option(index)) })], [actions({ type: 'checkboxes', options: times(11, (index) => option(index)) })], '/blocks/0/elements/0/options'],
  ['10 radio buttons', [actions({ type: 'radio_buttons', options: times(10, (index) => option(index)) })], [actions({ type: 'radio_buttons', options: times(11, (index) => option(index)) })], '/blocks/0/elements/0/options'],
  ['5 entries of overflow', [section({ accessory: { type: 'overflow', options: times(5, (index) => option(index)) } })], [section({ accessory: { type: 'overflow', options: times(6, (index) => option(index)) } })], '/blocks/0/accessory/options'],
  ['150 characters in a placeholder', [select({ options: [option(0)], placeholder: plain(150) })], [select({ options: [option(0)], placeholder: plain(151) })], '/blocks/0/elements/0/placeholder/text'],
  ['100 characters in the title of a confirmation', [actions(button({ confirm: { text: mrkdwn(300), title: plain(100), confirm: plain(30), deny: plain(30) } }))], [actions(button({ confirm: { text: mrkdwn(1), title: plain(101) } }))], '/blocks/0/elements/0/confirm/title/text'],
  ['300 characters in a confirmation', [actions(button({ confirm: { text: mrkdwn(300) } }))], [actions(button({ confirm: { text: mrkdwn(301) } }))], '/blocks/0/elements/0/confirm/text/text'],
  ['30 characters on the buttons of a confirmation', [actions(button({ confirm: { text: mrkdwn(1), deny: plain(30) } }))], [actions(button({ confirm: { text: mrkdwn(1), deny: plain(31) } }))], '/blocks/0/elements/0/confirm/deny/text'],
  ['an image has an alternative text', [{ type: 'image', image_url: 'https://e.eu/a.png', alt_text: x(2000) }], [{ type: 'image', image_url: 'https://e.eu/a.png' }], '/blocks/0'],
  ['2000 characters in an alternative text', [{ type: 'image', image_url: 'https://e.eu/a.png', alt_text: x(2000) }], [{ type: 'image', image_url: 'https://e.eu/a.png', alt_text: x(2001) }], '/blocks/0/alt_text'],
  ['one source of an image', [{ type: 'image', slack_file: { id: 'F1' }, alt_text: 'a' }], [{ type: 'image', slack_file: { id: 'F1' }, image_url: 'https://e.eu/a.png', alt_text: 'a' }], '/blocks/0'],
  ['12,000 characters of markdown in all', [{ type: 'markdown', text: x(12_000) }], [{ type: 'markdown', text: x(6000) }, { type: 'markdown', text: x(6001) }], '/blocks/1'],
  ['100 rows of a table', [{ type: 'table', rows: times(100, () => cells(1)) }], [{ type: 'table', rows: times(101, () => cells(1)) }], '/blocks/0/rows'],
  ['20 columns of a table', [{ type: 'table', rows: [cells(20)] }], [{ type: 'table', rows: [cells(21)] }], '/blocks/0/rows/0'],
  ['one table in a message', [{ type: 'table', rows: [cells(1)] }], [{ type: 'table', rows: [cells(1)] }, { type: 'table', rows: [cells(1)] }], '/blocks/1'],
  ['a caption of a data_table', [dataTable([cells(1), cells(1)])], [{ type: 'data_table', rows: [cells(1), cells(1)] }], '/blocks/0'],
  ['two rows of a data_table at least', [dataTable([cells(1), cells(1)])], [dataTable([cells(1)])], '/blocks/0/rows'],
  ['101 rows of a data_table', [dataTable(times(101, () => cells(1)))], [dataTable(times(102, () => cells(1)))], '/blocks/0/rows'],
  ['a text on each number', [dataTable([cells(1), [{ type: 'raw_number', value: 1, text: '1' }]])], [dataTable([cells(1), [{ type: 'raw_number', value: 1 }]])], '/blocks/0/rows/1/0'],
  ['no empty cell', [dataTable([cells(1), cells(1)])], [dataTable([cells(1), cells(1, 0)])], '/blocks/0/rows/1/0/text'],
  ['plain text in the header of a data_table', [dataTable([cells(1), [rich]])], [dataTable([[rich], cells(1)])], '/blocks/0/rows/0/0/type'],
  ['20 columns of a data_table', [dataTable([cells(20), cells(20)])], [dataTable([cells(21), cells(21)])], '/blocks/0/rows/0'],
  ['a row header that is a column', [dataTable([cells(1), cells(1)], { row_header_column_index: 0 })], [dataTable([cells(1), cells(1)], { row_header_column_index: 1 })], '/blocks/0/row_header_column_index'],
  ['rows of equal length', [dataTable([cells(2), cells(2)])], [dataTable([cells(2), cells(1)])], '/blocks/0/rows'],
  ['100 rows on a page', [dataTable([cells(1), cells(1)], { page_size: 100 })], [dataTable([cells(1), cells(1)], { page_size: 101 })], '/blocks/0/page_size'],
  ['10,000 characters in a data_table', [dataTable([cells(1, 5000), cells(1, 5000)])], [dataTable([cells(1, 5000), cells(1, 5001)])], '/blocks/0'],
  ['10,000 characters in all data_tables', [dataTable([cells(1, 2500), cells(1, 2500)]), dataTable([cells(1, 2500), cells(1, 2500)])], [dataTable([cells(1, 2500), cells(1, 2500)]), dataTable([cells(1, 2500), cells(1, 2501)])], '/blocks/1'],
  ['two charts in a message', times(2, () => chart(pie(1))), times(3, () => chart(pie(1))), '/blocks/2'],
  ['a chart has a title', [chart(pie(1))], [chart(pie(1), { title: '' })], '/blocks/0/title'],
  ['10,000 characters in a table and a data_table', [{ type: 'table', rows: [cells(1, 5000)] }, dataTable([cells(1, 2500), cells(1, 2500)])], [{ type: 'table', rows: [cells(1, 5001)] }, dataTable([cells(1, 2500), cells(1, 2500)])], '/blocks/1'],
  ['50 characters over a chart', [chart(pie(1), { title: x(50) })], [chart(pie(1), { title: x(51) })], '/blocks/0/title'],
  ['kinds of charts', [chart(plot(1, { type: 'area' }))], [chart(plot(1, { type: 'radar' }))], '/blocks/0/chart/type'],
  ['a chart has axes', [chart(plot(1))], [chart(plot(1, { axis_config: undefined }))], '/blocks/0/chart'],
  ['50 characters beside an axis', [chart(plot(1, { axis_config: axes(1, { x_label: x(50), y_label: x(50) }) }))], [chart(plot(1, { axis_config: axes(1, { y_label: x(51) }) }))], '/blocks/0/chart/axis_config/y_label'],
  ['6 series', [chart(plot(1, { series: times(6, (nth) => series(1, `s${nth}`)) }))], [chart(plot(1, { series: times(7, (nth) => series(1, `s${nth}`)) }))], '/blocks/0/chart/series'],
  ['20 characters in the name of a series', [chart(plot(1, { series: [series(1, x(20))] }))], [chart(plot(1, { series: [series(1, x(21))] }))], '/blocks/0/chart/series/0/name'],
  ['names of series that occur once', [chart(plot(1, { series: [series(1, 'a'), series(1, 'b')] }))], [chart(plot(1, { series: [series(1, 'a'), series(1, 'a')] }))], '/blocks/0/chart/series/1'],
  ['20 points', [chart(plot(20))], [chart(plot(21))], '/blocks/0/chart/series/0/data'],
  ['20 categories', [chart(plot(20))], [chart(plot(21))], '/blocks/0/chart/axis_config/categories'],
  ['20 characters in a category', [chart(plot(1, labelled(x(20))))], [chart(plot(1, labelled(x(21))))], '/blocks/0/chart/axis_config/categories/0'],
  ['categories that occur once', [chart(plot(2))], [chart(plot(1, labelled('a', 'a')))], '/blocks/0/chart/axis_config/categories/1'],
  ['a point for each category', [chart(plot(2))], [chart(plot(2, { series: [series(1)] }))], '/blocks/0/chart/series/0/data'],
  ['a value for each point', [chart(plot(1, { series: [{ name: 's', data: [{ label: 'c0', value: -1.5 }] }] }))], [chart(plot(1, { series: [{ name: 's', data: [{ label: 'c0', value: null }] }] }))], '/blocks/0/chart/series/0/data/0'],
  ['6 segments', [chart(pie(6))], [chart(pie(7))], '/blocks/0/chart/segments'],
  ['segments above zero', [chart(pie(1))], [chart({ type: 'pie', segments: [{ label: 'a', value: 0 }] })], '/blocks/0/chart/segments/0/value'],
  ['20 characters in a segment', [chart({ type: 'pie', segments: [{ label: x(20), value: 1 }] })], [chart({ type: 'pie', segments: [{ label: x(21), value: 1 }] })], '/blocks/0/chart/segments/0/label'],
  ['segments that occur once', [chart(pie(2))], [chart({ type: 'pie', segments: times(2, () => ({ label: 'a', value: 1 })) })], '/blocks/0/chart/segments/1'],
  ['10 blocks in a container', [{ type: 'container', title: plain(150), child_blocks: times(10, () => section()) }], [{ type: 'container', title: plain(1), child_blocks: times(11, () => section()) }], '/blocks/0/child_blocks'],
  ['a container has a title', [{ type: 'container', title: plain(1), child_blocks: [section()] }], [{ type: 'container', child_blocks: [section()] }], '/blocks/0'],
  ['150 characters in the title of a container', [{ type: 'container', title: plain(150), child_blocks: [section()] }], [{ type: 'container', title: plain(151), child_blocks: [section()] }], '/blocks/0/title/text'],
  ['no container in a container', [{ type: 'container', title: plain(1), child_blocks: [section()] }], [{ type: 'container', title: plain(1), child_blocks: [{ type: 'container', title: plain(1), child_blocks: [section()] }] }], '/blocks/0/child_blocks/0/type'],
  ['200 characters in a card', [{ type: 'card', title: mrkdwn(150), body: mrkdwn(200) }], [{ type: 'card', body: mrkdwn(201) }], '/blocks/0/body/text'],
  ['3 buttons on a card', [{ type: 'card', body: mrkdwn(1), actions: times(3, () => button()) }], [{ type: 'card', body: mrkdwn(1), actions: times(4, () => button()) }], '/blocks/0/actions'],
  ['10 cards', [{ type: 'carousel', elements: times(10, () => ({ type: 'card', body: mrkdwn(1) })) }], [{ type: 'carousel', elements: times(11, () => ({ type: 'card', body: mrkdwn(1) })) }], '/blocks/0/elements'],
  ['states of a task', [{ type: 'task_card', task_id: 't', title: 't', status: 'complete' }], [{ type: 'task_card', task_id: 't', title: 't', status: 'done' }], '/blocks/0/status'],
  ['no alert', [{ type: 'divider' }], [{ type: 'alert', text: plain(1) }], '/blocks/0/type'],
  ['a video title below 200', [{ type: 'video', video_url: 'https://e.eu/v', thumbnail_url: 'https://e.eu/t', alt_text: 'a', title: plain(199) }], [{ type: 'video', video_url: 'https://e.eu/v', thumbnail_url: 'https://e.eu/t', alt_text: 'a', title: plain(200) }], '/blocks/0/title/text'],
  ['2000 characters in the label of an input', [input({ type: 'plain_text_input' }, { label: plain(2000), hint: plain(2000) })], [input({ type: 'plain_text_input' }, { label: plain(2001) })], '/blocks/0/label/text'],
  ['2000 characters in a hint', [input({ type: 'plain_text_input' }, { hint: plain(2000) })], [input({ type: 'plain_text_input' }, { hint: plain(2001) })], '/blocks/0/hint/text'],
  ['max_length up to 3000', [input({ type: 'plain_text_input', max_length: 3000 })], [input({ type: 'plain_text_input', max_length: 3001 })], '/blocks/0/element/max_length'],
  ['is_decimal_allowed of a number input', [input({ type: 'number_input', is_decimal_allowed: false })], [input({ type: 'number_input' })], '/blocks/0/element'],
  ['dates as YYYY-MM-DD', [input({ type: 'datepicker', initial_date: '2026-11-21' })], [input({ type: 'datepicker', initial_date: '21.11.2026' })], '/blocks/0/element/initial_date'],
  ['times as HH:mm', [input({ type: 'timepicker', initial_time: '09:30' })], [input({ type: 'timepicker', initial_time: '9:30' })], '/blocks/0/element/initial_time'],
  ['file inputs in modals only', [input({ type: 'plain_text_input' })], [input({ type: 'file_input' })], '/blocks/0/element/type'],
  ['no button as an input', [input({ type: 'plain_text_input' })], [input(button())], '/blocks/0/element/type'],
  ['one focus', [input({ type: 'plain_text_input', focus_on_load: true })], times(2, () => input({ type: 'plain_text_input', focus_on_load: true })), '/blocks/1/element/focus_on_load'],
  ['known blocks', [{ type: 'divider' }], [{ type: 'nonsense' }], '/blocks/0/type'],
  ['known members', [section({ expand: true })], [section({ colour: 'red' })], '/blocks/0'],
  ['no emoji member in mrkdwn', [section({ text: { ...plain(1), emoji: true } })], [section({ text: { ...mrkdwn(1), emoji: true } })], '/blocks/0/text'],
  ['known rich text', [{ type: 'rich_text', elements: [{ type: 'rich_text_section', elements: [{ type: 'text', text: 'a' }] }] }], [{ type: 'rich_text', elements: [{ type: 'rich_text_section', elements: [{ type: 'bold', text: 'a' }] }] }], '/blocks/0/elements/0/elements/0/type'],
  ['no file block from an app', [{ type: 'divider' }], [{ type: 'file', source: 'remote', external_id: 'a' }], '/blocks/0/type'],
];

test.each(messageLimits)('messages: %s', (_limit, allowed, refused, pointer) => {
  expect(checkMessage({ text: 't', blocks: allowed }, { label: 'm' })).toEqual({
    messages: [],
    problems: [],
  });
  const checked = checkMessage({ text: 't', blocks: refused }, { label: 'm' });
  expect(checked.error).toBe('invalid_blocks');
  expect(checked.messages.join('\n')).toContain(`[json-pointer:${pointer}]`);
  expect(checked.problems.join('\n')).toContain(`m: invalid_blocks [ERROR]`);
});

const textInput = input({ type: 'plain_text_input' });
// biome-ignore format: one line a limit reads as the table it is
const viewLimits: [limit: string, allowed: Json, refused: Json, pointer: string][] = [
  ['100 blocks', modal(times(100, () => section())), modal(times(101, () => section())), '/view/blocks'],
  ['24 characters in the title', modal([], { title: plain(24) }), modal([], { title: plain(25) }), '/view/title/text'],
  ['24 characters on submit', modal([], { submit: plain(24) }), modal([], { submit: plain(25) }), '/view/submit/text'],
  ['24 characters on close', modal([], { close: plain(24) }), modal([], { close: plain(25) }), '/view/close/text'],
  ['a title', modal([]), { type: 'modal', blocks: [] }, '/view'],
  ['3000 characters of private_metadata', modal([], { private_metadata: x(3000) }), modal([], { private_metadata: x(3001) }), '/view/private_metadata'],
  ['255 characters in callback_id', modal([], { callback_id: x(255) }), modal([], { callback_id: x(256) }), '/view/callback_id'],
  ['255 characters in external_id', modal([], { external_id: x(255) }), modal([], { external_id: x(256) }), '/view/external_id'],
  ['submit where there are inputs', modal([textInput], { submit: plain(2) }), modal([textInput]), '/view'],
  ['10 files', modal([input({ type: 'file_input', max_files: 10 })], { submit: plain(2) }), modal([input({ type: 'file_input', max_files: 11 })], { submit: plain(2) }), '/view/blocks/0/element/max_files'],
  ['levels of an alert', modal([{ type: 'alert', text: plain(200), level: 'warning' }]), modal([{ type: 'alert', text: plain(1), level: 'bad' }]), '/view/blocks/0/level'],
  ['no carousel', modal([{ type: 'card', body: mrkdwn(1) }]), modal([{ type: 'carousel', elements: [{ type: 'card', body: mrkdwn(1) }] }]), '/view/blocks/0/type'],
  ['no container', modal([section()]), modal([{ type: 'container', title: plain(1), child_blocks: [section()] }]), '/view/blocks/0/type'],
  ['no charts', modal([section()]), modal([chart(plot(1))]), '/view/blocks/0/type'],
  ['no sortable tables', modal([section()]), modal([dataTable([cells(1), cells(1)])]), '/view/blocks/0/type'],
  ['no tables', modal([section()]), modal([{ type: 'table', rows: [cells(1)] }]), '/view/blocks/0/type'],
  ['known members', modal([]), modal([], { colour: 'red' }), '/view'],
  ['250 kB', modal([], { }), modal(times(90, () => section({ text: plain(3000) }))), '/view'],
];

test.each(viewLimits)('modals: %s', (_limit, allowed, refused, pointer) => {
  expect(checkView(allowed, 'v', 'modal')).toEqual({ messages: [], problems: [] });
  const checked = checkView(refused, 'v', 'modal');
  expect(checked.error).toBe('invalid_arguments');
  expect(checked.messages.join('\n')).toContain(`[json-pointer:${pointer}]`);
});

test('a Home tab has no title and no submit', () => {
  expect(checkView({ type: 'home', blocks: [section()] }, 'v', 'home').problems).toEqual([]);
  expect(checkView({ type: 'home', blocks: [], submit: plain(1) }, 'v', 'home').messages).toHaveLength(1);
  expect(checkView(modal([]), 'v', 'home').messages).toHaveLength(1);
});

test('a message without text that stands alone is sent, and is a problem', () => {
  expect(checkMessage({ blocks: [section()] }, { label: 'm' })).toEqual({
    messages: [],
    problems: [expect.stringContaining('needs text that stands alone')],
  });
  expect(checkMessage({}, { label: 'm' }).error).toBe('no_text');
});

test('a column that mixes numbers and text, and a sixth button in a row, are problems', () => {
  const numberCell = [{ type: 'raw_number', value: 1, text: '1' }];
  expect(problemsOf([dataTable([cells(1), numberCell, numberCell])]).problems).toEqual([]);
  expect(problemsOf([dataTable([cells(1), numberCell, cells(1)])])).toEqual({
    messages: [],
    problems: [expect.stringContaining('sorts as text')],
  });
  expect(problemsOf([actions(...times(5, () => button()))]).problems).toEqual([]);
  expect(problemsOf([actions(...times(6, () => button()))]).problems).toEqual([
    expect.stringContaining('shows 5 of these 6'),
  ]);
});

test('more than 12,000 characters of blocks are a problem, more than 13,200 are refused', () => {
  expect(checkMessage({ text: 't', blocks: sections(12_000) }, { label: 'm' }).problems).toEqual([]);
  const much = checkMessage({ text: 't', blocks: sections(12_500) }, { label: 'm' });
  expect([much.error, much.problems.length]).toEqual([undefined, 1]);
  expect(checkMessage({ text: 't', blocks: sections(13_500) }, { label: 'm' }).error).toBe(
    'msg_blocks_too_long',
  );
});

test('markdown_text is at most 12,000 characters and excludes text and blocks', () => {
  expect(checkMessage({ markdown_text: x(12_000) }, { label: 'm' }).error).toBeUndefined();
  expect(checkMessage({ markdown_text: x(12_001) }, { label: 'm' }).error).toBe('msg_too_long');
  expect(checkMessage({ markdown_text: 'a', text: 'b' }, { label: 'm' }).error).toBe(
    'markdown_text_conflict',
  );
});

test('suggestions are at most 100 options or 100 groups, not both and not neither', () => {
  expect(checkSuggestions({ options: options(100) }, 's').problems).toEqual([]);
  expect(checkSuggestions({ options: [] }, 's').problems).toEqual([]);
  expect(checkSuggestions({ options: options(101) }, 's').error).toBe('invalid_suggestions');
  expect(checkSuggestions({ options: [], option_groups: [] }, 's').error).toBe('invalid_suggestions');
  expect(checkSuggestions({}, 's').error).toBe('invalid_suggestions');
});
