import type { ApiKey } from '../api/api-keys.ts';
import { renderAnswer } from './blocks/answer.ts';
import type { Attachment, Message } from './blocks/blocks.ts';
import { replacingButton } from './blocks/buttons.ts';
import { agree, andMore, formatInteger, formatMoment, pluralize } from './blocks/format.ts';
import { escapeMrkdwn, formatCode, join } from './blocks/text.ts';

/** Keys that get a line; with more of them the answer has a file, too. */
const mostLines = 5;
const mostRoles = 6;

export function renderApiKeys(all: readonly ApiKey[], skipped: number, asOf: Date): Message {
  const keys = all.toSorted((a, b) => Number(b.isOwn ?? false) - Number(a.isOwn ?? false));
  const own = keys.find(({ isOwn }) => isOwn);
  const count = pluralize(keys.length, 'API key');
  const id = own && escapeMrkdwn(own.id, 20);
  const absent = describeAbsent(keys, skipped);
  const isCut = keys.length > mostLines;
  const answer = renderAnswer({
    text: `${count}${id ? `, yours is ${id}` : absent}.`,
    lines: [
      `*${count}*${id ? `, yours is *${id}*` : absent}`,
      ...keys.slice(0, mostLines).map(renderKey),
      isCut && `${formatInteger(keys.length - mostLines)} more are in the file`,
    ],
    actions: [replacingButton('Refresh', 'keys')],
    notes: [
      skipped > 0 &&
        `:warning: ${pluralize(skipped, 'key')} could not be read and ${agree(skipped, 'is', 'are')} left out`,
      'the CDN reports no owner, date or last use',
      `as of ${formatMoment(asOf)}`,
    ],
  });
  return isCut ? { ...answer, files: [createFile(keys)] } : answer;
}

function describeAbsent(keys: readonly ApiKey[], skipped: number): string {
  if (keys.length === 0) return skipped > 0 ? ' could be read' : ' listed, although yours works';
  const isCertain = skipped === 0 && keys.every(({ isOwn }) => isOwn !== undefined);
  return isCertain ? ', yours is not among them' : ', the CDN does not say which is yours';
}

function renderKey({ id, tail, roles, isOwn }: ApiKey): string {
  const ends = tail ? `ends in ${formatCode(`…${tail}`)}` : 'last characters not shown';
  return `• ${escapeMrkdwn(id, 20)}${isOwn ? ' (yours)' : ''}: ${describeRoles(roles)} · ${ends}`;
}

function describeRoles(roles: ApiKey['roles']): string {
  if (roles === undefined) return 'roles not reported';
  if (roles.length === 0) return 'no roles';
  const more = roles.length - mostRoles;
  const shown = roles.slice(0, mostRoles).map((role) => escapeMrkdwn(role.trim(), 40) || '(empty)');
  return join([shown.join(', '), andMore(more)], ' ');
}

function createFile(keys: readonly ApiKey[]): Attachment {
  const rows = keys.map(({ id, tail, roles, isOwn }) =>
    [id, tail ? `…${tail}` : '(not shown)', roles?.join(', ') ?? '(not reported)', isOwn ? 'yours' : '']
      .join('\t')
      .trimEnd(),
  );
  const content = new TextEncoder().encode(`id\tends in\troles\n${rows.join('\n')}\n`);
  return { name: 'api-keys.txt', title: 'API keys', mimetype: 'text/plain', content };
}
