// Slack's mrkdwn to DOM nodes: blocks of lines first (code, quotes, lists), then what stands inside a line.

import { slackDate } from './dates.js';
import { el } from './dom.js';
import { emoji, link, mention } from './text.js';

const entities = { '&amp;': '&', '&lt;': '<', '&gt;': '>' };
export const unescape = (text) => text.replaceAll(/&(?:amp|lt|gt);/g, (entity) => entities[entity]);

/** Nodes for a mrkdwn text. */
export function mrkdwn(text) {
  const nodes = [];
  // The odd pieces are what stood between two ``` fences.
  text.split(/```\n?([\s\S]+?)```\n?/).forEach((piece, index) => {
    if (index % 2) nodes.push(el('pre', {}, el('code', {}, codeText(piece))));
    else if (piece) nodes.push(...paragraphs(piece));
  });
  return nodes;
}

/** Links inside code stay readable: their label or address, without the brackets. */
function codeText(text) {
  const readable = text.replaceAll(
    /<((?:https?:|mailto:|[@#!])[^|>]*)(?:\|([^>]*))?>/g,
    (_, target, label) => label ?? target,
  );
  return unescape(readable).replace(/\n$/, '');
}

function paragraphs(text) {
  const nodes = [];
  const lines = text.split('\n');
  for (let at = 0; at < lines.length; ) {
    const line = lines[at];
    if (line.startsWith('&gt;&gt;&gt;') || line.startsWith('>>>')) {
      const rest = [line.replace(/^(?:&gt;|>){3} ?/, ''), ...lines.slice(at + 1)].join('\n');
      nodes.push(el('blockquote', {}, ...paragraphs(rest)));
      break;
    }
    const quote = startingWith(lines, at, /^(?:&gt;|>) ?/);
    const bullets = startingWith(lines, at, /^\s*[•◦▪] /);
    if (quote.length) nodes.push(el('blockquote', {}, ...paragraphs(quote.join('\n'))));
    else if (bullets.length)
      nodes.push(el('ul', {}, ...bullets.map((item) => el('li', {}, ...inline(item)))));
    else if (line === '') nodes.push(el('div', { class: 'gap' }));
    else nodes.push(el('div', { class: 'line' }, ...inline(line)));
    at += quote.length || bullets.length || 1;
  }
  return nodes;
}

/** The lines from `at` on that begin with `prefix`, without it. */
function startingWith(lines, at, prefix) {
  const found = [];
  for (let line = lines[at]; line !== undefined && prefix.test(line); line = lines[at + found.length]) {
    found.push(line.replace(prefix, ''));
  }
  return found;
}

const marks = { '*': 'strong', _: 'em', '~': 's' };

/** Nodes for what stands inside one line. */
export function inline(text) {
  const nodes = [];
  let plain = '';
  const add = (node) => {
    if (plain) nodes.push(unescape(plain));
    plain = '';
    if (node) nodes.push(node);
  };
  for (let at = 0; at < text.length; ) {
    const found = special(text, at);
    if (found) {
      add(found.node);
      at = found.end;
    } else {
      plain += text[at];
      at += 1;
    }
  }
  add();
  return nodes;
}

function special(text, at) {
  const char = text[at];
  if (char === '`') {
    const end = text.indexOf('`', at + 1);
    if (end > at + 1) return { node: el('code', {}, codeText(text.slice(at + 1, end))), end: end + 1 };
  }
  if (char === '<') {
    const end = text.indexOf('>', at + 1);
    if (end > at + 1) return { node: angle(text.slice(at + 1, end)), end: end + 1 };
  }
  if (char === ':') {
    const shortcode = /^:([a-z0-9_+'-]+):/i.exec(text.slice(at));
    const picture = shortcode && emoji(shortcode[1]);
    if (picture)
      return {
        node: el('span', { class: 'emoji', title: shortcode[0] }, picture),
        end: at + shortcode[0].length,
      };
  }
  if (marks[char]) {
    const end = closing(text, at);
    if (end) return { node: el(marks[char], {}, ...inline(text.slice(at + 1, end))), end: end + 1 };
  }
  return undefined;
}

/** The end of a `*bold*` that opens at `at`: marks stand at word borders and never across code or links. */
function closing(text, at) {
  const mark = text[at];
  if (/[\p{L}\p{N}*_~]/u.test(text[at - 1] ?? '') && text[at - 1] !== undefined && !marks[text[at - 1]])
    return undefined;
  if (!text[at + 1] || /\s/.test(text[at + 1]) || text[at + 1] === mark) return undefined;
  for (let end = at + 1; end < text.length; end += 1) {
    if (text[end] === '`') end = Math.max(end, text.indexOf('`', end + 1));
    else if (text[end] === '<') end = Math.max(end, text.indexOf('>', end + 1));
    else if (text[end] === mark && !/\s/.test(text[end - 1]) && !/[\p{L}\p{N}]/u.test(text[end + 1] ?? ''))
      return end;
  }
  return undefined;
}

/** The content between < and >: a link, a person, a channel, a date, a mention of everyone. */
function angle(inner) {
  const cut = inner.indexOf('|');
  const target = cut < 0 ? inner : inner.slice(0, cut);
  const label = cut < 0 ? undefined : unescape(inner.slice(cut + 1));
  if (target.startsWith('!date^')) {
    const [, seconds, pattern, address] = target.split('^');
    const words = slackDate(seconds, unescape(pattern ?? '')) ?? label ?? '';
    const time = el('time', { title: label }, words);
    return address ? link(unescape(address), time) : time;
  }
  if (/^[@#!]/.test(target)) return mention(target, label);
  const address = unescape(target);
  return link(address, label ?? address.replace(/^mailto:/, ''));
}
