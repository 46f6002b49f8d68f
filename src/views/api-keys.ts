import type { ApiKey } from '../api/api-keys.ts';
import { renderAnswer } from './blocks/answer.ts';
import type { Attachment, Message } from './blocks/blocks.ts';
import { button } from './blocks/buttons.ts';
import { formatInteger, formatMoment, pluralize } from './blocks/format.ts';
import { renderTable } from './blocks/table.ts';
import { escapeMrkdwn, truncate } from './blocks/text.ts';

interface ApiKeyList {
  readonly keys: readonly ApiKey[];
  /** Unreadable ones, left out. */
  readonly skipped: number;
  readonly asOf: Date;
  /** The value of the Refresh button. */
  readonly refresh: string;
}

/** The keys of the account, the reader's own first. More than a table takes come as a file beside it. */
export function renderApiKeys({ keys: all, skipped, asOf, refresh }: ApiKeyList): Message {
  const keys = all.toSorted((a, b) => Number(b.isOwn) - Number(a.isOwn));
  const own = keys.find(({ isOwn }) => isOwn);
  const count = pluralize(keys.length, 'API key');
  const id = own && escapeMrkdwn(own.id, 20);
  const absent = keys.length > 0 ? ', yours is not among them' : '';
  const picture = renderTable({
    caption: 'API keys of the account',
    columns: ['Key', 'May', 'Ends'],
    rows: keys.map(renderKey),
  });
  const isCut = keys.length > (picture[0]?.rows.length ?? 1) - 1;
  const answer = renderAnswer({
    text: `${count}${id ? `, yours is ${id}` : absent}.`,
    lines: [`*${count}*${id ? `, yours is *${id}*` : absent}`],
    picture,
    actions: [button('Refresh', 'api-keys:refresh', refresh)],
    notes: [
      isCut && 'the others are in the file',
      skipped > 0 &&
        `:warning: ${pluralize(skipped, 'key')} could not be read and ${skipped === 1 ? 'is' : 'are'} left out`,
      'The CDN names no owner, date or last use',
      `as of ${formatMoment(asOf)}`,
    ],
  });
  return isCut ? { ...answer, files: [createFile(keys)] } : answer;
}

/** `SubuserAPIPullZones` → `sub-user API: pull zones`. The set is open: what is unknown stays as it came. Plain text. */
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
  if (!area) return truncate(name.trim(), 60) || '(empty)';
  const words = area.replaceAll(/(?<=[a-z])(?=[A-Z])/gu, ' ').toLowerCase();
  return `sub-user${kind ? ' API' : ''}: ${words === 'dns' ? 'DNS' : words}`;
}

function renderKey({ id, tail, roles, isOwn }: ApiKey): string[] {
  const more = roles.length - 8;
  const may = roles.slice(0, 8).map(describeRole).join(', ') || 'no roles';
  return [
    isOwn ? `${id} (yours)` : id,
    more > 0 ? `${may} and ${formatInteger(more)} more` : may,
    tail ? `…${tail}` : 'hidden',
  ];
}

function createFile(keys: readonly ApiKey[]): Attachment {
  const rows = keys.map(({ id, tail, roles, isOwn }) =>
    [id, tail ? `…${tail}` : '(hidden)', roles.join(', '), isOwn ? 'yours' : ''].join('\t').trimEnd(),
  );
  const content = new TextEncoder().encode(`id\tends in\troles\n${rows.join('\n')}\n`);
  return { name: 'api-keys.txt', title: 'API keys', mimetype: 'text/plain', content };
}
