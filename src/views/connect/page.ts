import { asIs, type Html, html } from '../blocks/html.ts';
import { pluralize } from '../blocks/text.ts';
import { style } from './page-style.ts';

/** Why a key that was sent is not connected, in plain words. */
export interface PageProblem {
  readonly message: string;
  readonly hint?: string | undefined;
}

/** The form. What was typed is never put back. */
export function keyForm(page: {
  readonly shownFor: string;
  readonly formToken: string;
  readonly minutesLeft: number;
  /** Where the form posts to, relative to the page. */
  readonly postTo: string;
  readonly problem?: PageProblem | undefined;
}): string {
  const { problem } = page;
  return document(
    'Connect your CDN key',
    html`<h1>Connect your CDN key</h1>
<p>It goes straight to the bot, not through Slack. The bot checks it with one read and keeps it encrypted.</p>
<p class="who"><span>This page connects a key for</span><strong>${page.shownFor}</strong></p>
<p class="soft">Not you? Close this page: whoever that is would act with the key you enter here.</p>
${problem ? note('bad', problem) : []}
<form method="post" action="${page.postTo}" autocomplete="off">
<input type="hidden" name="formToken" value="${page.formToken}">
<label for="accessKey">API key</label>
<input id="accessKey" name="accessKey" type="password" required maxlength="500" autofocus autocomplete="off" autocapitalize="none" autocorrect="off" spellcheck="false" data-1p-ignore data-lpignore="true" aria-describedby="hint"${problem ? asIs(' aria-invalid="true"') : []}>
<p class="hint" id="hint">In the CDN control panel: Account settings, API key. A key you connected before is replaced.</p>
<button type="submit">Connect</button>
</form>
<p class="soft">This page works once, for another ${pluralize(Math.max(1, page.minutesLeft), 'minute')}.</p>`,
  );
}

export function keyConnected(done: {
  readonly shownFor: string;
  readonly fingerprint: string;
  readonly zones: string;
}): string {
  return document(
    'Connected',
    html`<h1>Connected</h1>
${note('good', { message: 'Your key works and is kept encrypted.', hint: `It sees ${done.zones}.` })}
<p class="who"><span>Connected for</span><strong>${done.shownFor}</strong></p>
<p>You can close this page. Back in Slack, type</p>
<ul>
<li><code>/cdn zones</code> for the list of your zones</li>
<li><code>/cdn help</code> for the rest</li>
<li><code>/cdn disconnect</code> to make the bot forget the key</li>
</ul>
<p class="soft">Fingerprint <code>${done.fingerprint}</code> tells this key from others; <code>/cdn whoami</code> shows it.</p>`,
  );
}

const endings = {
  expired: {
    title: 'This link has expired',
    why: 'A link works for ten minutes, so that one that is left lying about opens nothing.',
  },
  used: {
    title: 'This link was used',
    why: 'A key was connected with it, and it works once. If that was not you, type /cdn disconnect in Slack.',
  },
  voided: {
    title: 'This link was taken back',
    why: 'A newer one was asked for, a key was connected meanwhile, or the key was disconnected.',
  },
  refused: {
    title: 'This link is closed',
    why: 'The CDN refused five keys that were entered here. Nothing was stored.',
  },
} as const;

/** A link that has ended, with the button that sends a new one to its person in Slack. */
export function linkEnded(page: {
  readonly state: keyof typeof endings;
  readonly formToken: string;
  /** Where the button posts to, relative to the page. */
  readonly renewAt: string;
}): string {
  const { title, why } = endings[page.state];
  return document(
    title,
    html`<h1>${title}</h1>
<p>${why}</p>
<form method="post" action="${page.renewAt}">
<input type="hidden" name="formToken" value="${page.formToken}">
<button type="submit">Send me a new link in Slack</button>
</form>
<p class="soft">It comes as a direct message from the bot. Or type <code>/cdn connect</code> in Slack.</p>`,
  );
}

export function linkRenewed(): string {
  return document(
    'A new link is in Slack',
    html`<h1>A new link is in Slack</h1>
${note('good', { message: 'Sent.', hint: 'Look at your direct messages from the bot: the new link works for ten minutes.' })}
<p class="soft">Nothing there? Type <code>/cdn connect</code> in Slack.</p>`,
  );
}

/** Anything else that a person has to know: a sentence, what to do next, perhaps the way back to the form. */
export function pageNotice(page: {
  readonly title: string;
  readonly problem: PageProblem;
  /** Address of the form, relative to the page. */
  readonly back?: string | undefined;
}): string {
  return document(
    page.title,
    html`<h1>${page.title}</h1>
<p>${page.problem.message}</p>
${page.problem.hint ? html`<p>${page.problem.hint}</p>` : []}
${page.back === undefined ? [] : html`<p><a class="button" href="${page.back}">Back to the form</a></p>`}
<p class="soft">A new link: type <code>/cdn connect</code> in Slack.</p>`,
  );
}

function note(kind: 'good' | 'bad', { message, hint }: PageProblem): Html {
  return html`<div class="note ${kind}" role="${kind === 'bad' ? 'alert' : 'status'}"><strong>${message}</strong>${hint ?? ''}</div>`;
}

function document(title: string, body: Html): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex, nofollow">
<title>${title} · CDN bot</title>
<style>${asIs(style)}</style>
</head>
<body>
<main>
<p class="name">CDN bot for Slack</p>
${body}
</main>
</body>
</html>
`.markup;
}
