import type { ApiKey } from '../api/api-keys.ts';
import { actions, button, context, message, section } from './blocks/blocks.ts';
import { formatMoment } from './blocks/dates.ts';
import type { Attachment, Message } from './blocks/message.ts';
import { escapeMrkdwn, formatCode, formatInteger, pluralize, truncateLines } from './blocks/text.ts';

export interface ApiKeyList {
  readonly keys: readonly ApiKey[];
  /** Unreadable ones, left out. */
  readonly skipped: number;
  readonly asOf: Date;
  /** What its Refresh button carries. */
  readonly refresh: string;
}

/** A phone's three screens; more come as a file beside them. */
const shownKeys = 60;
const linesInSection = 20;

/** The keys of the account, the reader's own first. */
export function renderApiKeys(list: ApiKeyList): Message {
  const { skipped } = list;
  const keys = list.keys.toSorted((a, b) => Number(b.isOwn) - Number(a.isOwn));
  const shown = keys.slice(0, shownKeys);
  const rest = keys.length - shown.length;
  const headline = `${pluralize(keys.length, 'API key')}${yours(keys)}`;
  const parts = Array.from({ length: Math.ceil(shown.length / linesInSection) }, (_, part) =>
    section(truncateLines(shown.slice(part * linesInSection, (part + 1) * linesInSection).map(line), 2900)),
  );
  const notes = [
    rest > 0 ? `${formatInteger(rest)} more are in the file` : '',
    skipped > 0
      ? `:warning: ${pluralize(skipped, 'key')} could not be read and ${skipped === 1 ? 'is' : 'are'} left out`
      : '',
    'The CDN names no owner, date or last use of a key',
    `as of ${formatMoment(list.asOf)}`,
  ];
  return {
    ...message(`${headline}.`, [
      section(`*${headline}*`),
      ...parts,
      context(notes.filter(Boolean).join(' · ')),
      actions(button('Refresh', 'api-keys:refresh', list.refresh)),
    ]),
    ...(rest > 0 ? { files: [file(keys)] } : {}),
  };
}

/** `SubuserAPIPullZones` → `sub-user API: pull zones`. The set is open: what is unknown stays as it came. */
export function describeRole(name: string): string {
  const known: Readonly<Record<string, string>> = {
    User: 'account',
    UserApi: 'account API',
    Subuser: 'sub-user',
    SubuserAPI: 'sub-user API',
    SubuserApi: 'sub-user API',
    ScopedApiKey: 'scoped key',
  };
  const plain = known[name];
  if (plain) return plain;
  const [, kind, area] = /^Subuser(API)?([A-Z][A-Za-z]*)$/u.exec(name) ?? [];
  if (!area) return escapeMrkdwn(name, 60) || '(empty)';
  const words = area.replaceAll(/(?<=[a-z])(?=[A-Z])/gu, ' ').toLowerCase();
  return `sub-user${kind ? ' API' : ''}: ${words === 'dns' ? 'DNS' : words}`;
}

function line(key: ApiKey): string {
  const [most, ...more] = [key.roles.slice(0, 8).map(describeRole), key.roles.slice(8)];
  const roles = most.join(', ') || 'no roles';
  const others = more.flat().length;
  return `${key.isOwn ? ':point_right: ' : ''}*${escapeMrkdwn(key.id, 20)}* ${masked(key)} · ${roles}${others > 0 ? ` and ${formatInteger(others)} more` : ''}${key.isOwn ? ' · *yours*' : ''}`;
}

function masked(key: ApiKey): string {
  return key.tail ? formatCode(`…${key.tail}`, 8) : '(hidden)';
}

function yours(keys: readonly ApiKey[]): string {
  const mine = keys.find((key) => key.isOwn);
  if (mine) return `, yours is ${escapeMrkdwn(mine.id, 20)}`;
  return keys.length > 0 ? ', yours is not among them' : '';
}

function file(keys: readonly ApiKey[]): Attachment {
  const rows = keys.map(({ id, tail, roles, isOwn: mine }) =>
    [id, tail ? `…${tail}` : '(hidden)', roles.join(', '), mine ? 'yours' : ''].join('\t').trimEnd(),
  );
  return {
    name: 'api-keys.txt',
    title: 'API keys',
    mimetype: 'text/plain',
    content: new TextEncoder().encode(`id\tends in\troles\n${rows.join('\n')}\n`),
  };
}
