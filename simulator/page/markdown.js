// Standard Markdown, as the markdown block takes it, to DOM nodes: blocks of lines, then what stands inside a line.

import { el } from './dom.js';
import { link, withEmoji } from './text.js';

const shapes = [
  [/^\s*$/, () => []],
  [/^```/, fence],
  [/^(#{1,6})\s+(.*)$/, heading],
  [/^\s*([-*_])(\s*\1){2,}\s*$/, () => [el('hr')]],
  [/^>\s?/, quote],
  [/^\s*([-*+]|\d+[.)])\s+/, list],
  [/^\s*\|.*\|\s*$/, table],
];

/** Nodes for a Markdown text. */
export function markdown(text) {
  const lines = text.split('\n');
  const nodes = [];
  while (lines.length) {
    const [pattern, draw] = shapes.find(([shape]) => shape.test(lines[0])) ?? [/./, paragraph];
    const line = lines.shift();
    nodes.push(...draw(line, lines, pattern));
  }
  return nodes;
}

/** Takes lines off the front while they fit. */
function take(lines, fits) {
  const taken = [];
  while (lines.length && fits(lines[0])) taken.push(lines.shift());
  return taken;
}

function fence(_, lines) {
  const code = take(lines, (line) => !line.startsWith('```'));
  lines.shift();
  return [el('pre', {}, el('code', {}, code.join('\n')))];
}

function heading(line, _, pattern) {
  const [, level, words] = pattern.exec(line);
  return [el(`h${Math.min(level.length + 2, 6)}`, { class: `md-${level.length}` }, ...inside(words))];
}

function quote(line, lines, pattern) {
  const quoted = [line, ...take(lines, (next) => pattern.test(next))].map((one) => one.replace(pattern, ''));
  return [el('blockquote', {}, ...markdown(quoted.join('\n')))];
}

function list(line, lines, pattern) {
  const depth = line.search(/\S/);
  const items = [[line.replace(pattern, '')]];
  for (const next of take(lines, (one) => pattern.test(one) || /^\s{2,}\S/.test(one))) {
    if (pattern.test(next) && next.search(/\S/) <= depth + 1) items.push([next.replace(pattern, '')]);
    else items.at(-1).push(next.slice(Math.min(depth + 2, next.search(/\S/))));
  }
  const tag = /^\s*\d/.test(line) ? 'ol' : 'ul';
  return [
    el(
      tag,
      {},
      ...items.map(([first, ...rest]) => el('li', {}, ...task(first), ...markdown(rest.join('\n')))),
    ),
  ];
}

function task(words) {
  const box = /^\[([ xX])\]\s+(.*)$/.exec(words);
  return box ? [box[1] === ' ' ? '☐ ' : '☑ ', ...inside(box[2])] : inside(words);
}

function table(line, lines, pattern) {
  const rows = [line, ...take(lines, (next) => pattern.test(next))].map((row) =>
    row
      .trim()
      .slice(1, -1)
      .split(/(?<!\\)\|/)
      .map((cell) => cell.trim().replaceAll('\\|', '|')),
  );
  const ruled = rows[1]?.every((cell) => /^:?-+:?$/.test(cell));
  const body = ruled ? rows.slice(2) : rows;
  const cells = (tag, row) => el('tr', {}, ...row.map((cell) => el(tag, {}, ...inside(cell))));
  const head = ruled ? el('thead', {}, cells('th', rows[0])) : undefined;
  return [
    el(
      'div',
      { class: 'table-wrap' },
      el('table', {}, head, el('tbody', {}, ...body.map((row) => cells('td', row)))),
    ),
  ];
}

function paragraph(line, lines) {
  const rest = take(lines, (next) => !shapes.some(([shape]) => shape.test(next)));
  return [
    el(
      'p',
      {},
      ...[line, ...rest].flatMap((one, index) => (index ? [el('br'), ...inside(one)] : inside(one))),
    ),
  ];
}

const spans = [
  [/`([^`]+)`/, ([, code]) => el('code', {}, code)],
  [/!?\[([^\]]*)\]\(([^)\s]+)[^)]*\)/, ([, label, address]) => link(address, label || address)],
  [/<(https?:[^>\s]+)>/, ([, address]) => link(address)],
  [/https?:\/\/[^\s<>()]+/, ([address]) => link(address)],
  [/\*\*(?=\S)(.+?)(?<=\S)\*\*/, ([, words]) => el('strong', {}, ...inside(words))],
  [/__(?=\S)(.+?)(?<=\S)__/, ([, words]) => el('strong', {}, ...inside(words))],
  [/~~(?=\S)(.+?)(?<=\S)~~/, ([, words]) => el('s', {}, ...inside(words))],
  [/\*(?=\S)([^*]+?)(?<=\S)\*/, ([, words]) => el('em', {}, ...inside(words))],
  [/(?<!\w)_(?=\S)([^_]+?)(?<=\S)_(?!\w)/, ([, words]) => el('em', {}, ...inside(words))],
];

/** Nodes for one line: the span that begins first wins, then what follows it. */
function inside(text) {
  let first;
  for (const [pattern, draw] of spans) {
    const found = pattern.exec(text);
    if (found && (!first || found.index < first.found.index)) first = { found, draw };
  }
  if (!first) return text ? [withEmoji(text.replaceAll(/\\([\\`*_{}[\]()#+\-.!|~>])/g, '$1'))] : [];
  const { found, draw } = first;
  return [
    ...inside(text.slice(0, found.index)),
    draw(found),
    ...inside(text.slice(found.index + found[0].length)),
  ];
}
