import { pluralize } from '../../views/blocks/text.ts';
import { pageNotice } from '../../views/connect/page.ts';
import type { FormRefusal, Page } from './page-requests.ts';

/** Which methods a page takes. */
export const allow = { allow: 'GET, HEAD, POST' };

/** A page that says one thing. `back` is the address of the form, relative to the page. */
export function notice(status: number, title: string, message: string, back?: string): Page {
  return { status, html: pageNotice({ title, problem: { message }, back }) };
}

/** The same for every text that is no link, so that nothing can be told from it. */
export const unknown = notice(
  404,
  'This link leads nowhere',
  'It is incomplete, or older than a day. Copy the whole link, or ask for a new one.',
);

export function tooMany(seconds: number): Page {
  const page = notice(
    429,
    'Too many visits',
    `Wait ${pluralize(seconds, 'second')}, then open the link once more.`,
  );
  return { ...page, headers: { 'retry-after': String(seconds) } };
}

export function checkingNow(token: string): () => Page {
  return () =>
    notice(409, 'A key is being checked', 'Another window of this page sent one a moment ago.', token);
}

/** Says what was refused unread, and why. */
export function refuse(why: FormRefusal, back: string): Page {
  switch (why) {
    case 'cross-site':
      return notice(
        403,
        'That did not come from this page',
        'Nothing was read. Use the form of the page itself, in a current browser.',
        back,
      );
    case 'not-a-form':
      return notice(415, 'That was no form', 'Nothing was read. Use the form of the page itself.', back);
    case 'too-large':
      return notice(413, 'That is too large for a key', 'Nothing was read. Copy the key alone.', back);
    case 'too-slow':
      return notice(408, 'That took too long', 'Nothing was read. Try again.', back);
  }
}

/** mrkdwn of our own sentences, as plain text. */
export function spoken(mrkdwn: string): string {
  return mrkdwn
    .replaceAll(/[`*]/g, '')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');
}
