import { maxNamedIds, type Named, type NamedGroup } from '../../../commands/reports/digests/names.ts';
import { formatInteger, pluralize } from '../../blocks/format.ts';
import { escapeMrkdwn } from '../../blocks/text.ts';

/** A zone's name, else its id. */
export function describeName({ id, name }: Named, longest = 60): string {
  return escapeMrkdwn(name, longest) || `zone ${escapeMrkdwn(id, 20)}`;
}

/** Three names of this length fit on a phone. */
const longestListed = 24;

/** `shop, media and 12 more`; the number if no name is known. If only a few are listed, each is short. */
export function listNames({ count, first }: NamedGroup, most: number): string {
  if (first.length === 0) return pluralize(count, 'zone');
  const listed = first.slice(0, most);
  const longest = most < maxNamedIds && listed.length > 1 ? longestListed : 60;
  const names = listed.map((one) => describeName(one, longest)).join(', ');
  const more = count - listed.length;
  return more > 0 ? `${names} and ${formatInteger(more)} more` : names;
}

/** Names in one line of a thread, and lines of one part. */
export const mostListed = 10;
