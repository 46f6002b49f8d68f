import type { ApiKey } from '../api/api-keys.ts';
import { type Attachment, actions, context, type Message, message, section } from './blocks/blocks.ts';
import { button } from './blocks/buttons.ts';
import { formatInteger, formatMoment, pluralize } from './blocks/format.ts';
import { escapeMrkdwn, formatCode, join, truncateLines } from './blocks/text.ts';

interface ApiKeyList {
  readonly keys: readonly ApiKey[];
  /** Unreadable ones, left out. */
  readonly skipped: number;
  readonly asOf: Date;
  /** The value of the Refresh button. */
  readonly refresh: string;
}

/** A phone's three screens; more come as a file beside them. */
const shownKeys = 60;
const linesInSection = 20;

/** The keys of the account, the reader's own first. */
export function renderApiKeys({ keys: all, skipped, asOf, refresh }: ApiKeyList): Message {
  const keys = all.toSorted((a, b) => Number(b.isOwn) - Number(a.isOwn));
  const lines = keys.slice(0, shownKeys).map(renderKey);
  const rest = keys.length - lines.length;
  const headline = `${pluralize(keys.length, 'API key')}${describeOwnKey(keys)}`;
  const parts = Array.from({ length: Math.ceil(lines.length / linesInSection) }, (_, part) =>
    section(truncateLines(lines.slice(part * linesInSection, (part + 1) * linesInSection), 2900)),
  );
  const notes = [
    rest > 0 && `${formatInteger(rest)} more are in the file`,
    skipped > 0 &&
      `:warning: ${pluralize(skipped, 'key')} could not be read and ${skipped === 1 ? 'is' : 'are'} left out`,
    'The CDN names no owner, date or last use of a key',
    `as of ${formatMoment(asOf)}`,
  ];
  return {
    ...message(`${headline}.`, [
      section(`*${headline}*`),
      ...parts,
      context(notes),
      actions(button('Refresh', 'api-keys:refresh', refresh)),
    ]),
    ...(rest > 0 ? { files: [createFile(keys)] } : {}),
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

function renderKey({ id, tail, roles, isOwn }: ApiKey): string {
  const more = roles.length - 8;
  const may = roles.slice(0, 8).map(describeRole).join(', ') || 'no roles';
  const facts = [
    `${isOwn ? ':point_right: ' : ''}*${escapeMrkdwn(id, 20)}* ${tail ? formatCode(`…${tail}`, 8) : '(hidden)'}`,
    more > 0 ? `${may} and ${formatInteger(more)} more` : may,
    isOwn && '*yours*',
  ];
  return join(facts, ' · ');
}

function describeOwnKey(keys: readonly ApiKey[]): string {
  const own = keys.find(({ isOwn }) => isOwn);
  if (own) return `, yours is ${escapeMrkdwn(own.id, 20)}`;
  return keys.length > 0 ? ', yours is not among them' : '';
}

function createFile(keys: readonly ApiKey[]): Attachment {
  const rows = keys.map(({ id, tail, roles, isOwn }) =>
    [id, tail ? `…${tail}` : '(hidden)', roles.join(', '), isOwn ? 'yours' : ''].join('\t').trimEnd(),
  );
  const content = new TextEncoder().encode(`id\tends in\troles\n${rows.join('\n')}\n`);
  return { name: 'api-keys.txt', title: 'API keys', mimetype: 'text/plain', content };
}
