import { formatCount } from '../blocks/format.ts';
import { capitalize } from '../blocks/text.ts';
import type { Connected, KeyProblem } from './connect.ts';

export function renderKeyForm(page: {
  readonly shownFor: string;
  readonly minutesLeft: number;
  readonly postTo: string;
  readonly keysAt: string | undefined;
  readonly problem?: KeyProblem | undefined;
}): string {
  const { problem, keysAt } = page;
  const panel = keysAt
    ? html`<a href="${keysAt}" target="_blank" rel="noreferrer">${keysAt.replace(/^https?:\/\//u, '')}</a>`
    : 'the control panel';
  return renderDocument(
    'Connect your bunny.net API key',
    html`<h1>Connect your bunny.net API key</h1>
<p>It goes straight to the bot, not through Slack. The bot checks it with one request and stores it encrypted.</p>
<p class="who"><span>This page connects a key for</span><strong>${page.shownFor}</strong></p>
<p class="soft">Not you? Close this page: that person would act with the key you enter here.</p>
${problem ? renderNote('bad', problem) : ''}
<form method="post" action="${page.postTo}" autocomplete="off">
<label for="accessKey">API key</label>
<input id="accessKey" name="accessKey" type="password" required maxlength="500" autofocus autocomplete="off" autocapitalize="none" autocorrect="off" spellcheck="false" data-1p-ignore data-lpignore="true" aria-describedby="hint"${problem ? { markup: ' aria-invalid="true"' } : ''}>
<p class="hint" id="hint">Copy it from ${panel}. It replaces the key you connected before.</p>
<button type="submit">Connect</button>
</form>
<p class="soft">This page works once, for ${formatCount(Math.max(1, page.minutesLeft), 'more minute')}.</p>`,
  );
}

export function renderKeyConnected(shownFor: string, { fingerprint, zones }: Connected): string {
  return renderDocument(
    'Connected',
    html`<h1>Connected</h1>
${renderNote('good', { message: `Your key sees ${zones}.`, hint: 'It is stored encrypted.' })}
<p class="who"><span>Connected for</span><strong>${shownFor}</strong></p>
<p>You can close this page. Back in Slack, type</p>
<ul>
<li><code>/cdn zones</code> to list your zones</li>
<li><code>/cdn help</code> for the rest</li>
<li><code>/cdn disconnect</code> to make the bot forget the key</li>
</ul>
<p class="soft">Fingerprint <code>${fingerprint}</code> identifies this key; <code>/cdn whoami</code> shows it.</p>`,
  );
}

const endings = {
  expired: ['This link has expired', 'Links work for ten minutes.'],
  used: [
    'This link has been used',
    'A key was connected with it, and each link works once. If that wasn’t you, type /cdn disconnect in Slack.',
  ],
  voided: ['This link was replaced', 'You asked for a newer one, or connected or disconnected a key since.'],
  refused: ['This link is closed', 'bunny.net refused five keys entered here. Nothing was stored.'],
} as const;

export function renderLinkEnded(state: keyof typeof endings): string {
  const [title, why] = endings[state];
  return renderNotice(title, why);
}

/** Any other notice: a sentence, and a link to the form at `back` (relative to the page) if there is one. */
export function renderNotice(title: string, message: string, back?: string): string {
  const hint = html`<p class="soft">For a new link, type <code>/cdn connect</code> in Slack.</p>`;
  return renderStep(title, message, back === undefined ? undefined : ['Back to the form', back], hint);
}

function renderStep(title: string, message: string, link?: readonly [string, string], hint?: Html): string {
  return renderDocument(
    title,
    html`<h1>${title}</h1>
<p>${message}</p>
${link ? html`<p><a class="button" href="${link[1]}">${link[0]}</a></p>` : ''}
${hint ?? ''}`,
  );
}

interface Permission {
  readonly use: string;
  readonly lost: string;
  readonly optional?: true;
}

/** The first page of an installation. `url`: Slack's, where a person agrees; `host`: where this bot runs. */
export function renderInstall(
  url: string,
  {
    permissions,
    host,
  }: { readonly permissions: Readonly<Record<string, Permission>>; readonly host: string },
): string {
  const entries = Object.entries(permissions);
  const list = (isOptional: boolean): Html[] =>
    entries
      .filter(([, { optional = false }]) => optional === isOptional)
      .map(([scope, permission]) => renderPermission(scope, permission));
  return renderDocument(
    'Add the CDN bot to Slack',
    html`<h1>Add the CDN bot to Slack</h1>
<p>Your team runs bunny.net from Slack with one command, <code>/cdn</code>. The bot acts with each person’s own API key, so it can do nothing that they cannot. Answers are private unless somebody shares them.</p>
<h2>What each permission is for</h2>
<ul>${list(false)}</ul>
<h2>Optional permissions</h2>
<p>You may leave these out in Slack; everything else works without them.</p>
<ul>${list(true)}</ul>
<p class="soft">The bot sees its command, mentions and messages to itself, not what people write to each other.</p>
<h2>What it keeps</h2>
<p>In the database of the team that runs it (<strong>${host}</strong>):</p>
<ul>
<li>API keys that people connect, and Slack’s token for this workspace, both encrypted.</li>
<li>Settings, digests, alerts, approvals, and an audit log with IDs of people and channels.</li>
<li>Its own messages, until they are posted and for a while after.</li>
</ul>
<h2>Who can remove it</h2>
<p>Any admin of the workspace, under <em>Manage apps</em> in Slack. That deletes its token and all connected keys. <code>/cdn disconnect</code> removes your own key at any time.</p>
<p><a class="button" href="${url}">Add to Slack</a></p>
<p class="soft">Slack then shows the same permissions in its own words, and asks whether you agree.</p>`,
  );
}

function renderPermission(scope: string, { use, lost, optional }: Permission): Html {
  const without = optional ? html`<span class="soft">Without it: ${lost}.</span>` : '';
  return html`<li>${capitalize(use)}. <code>${scope}</code> ${without}</li>
`;
}

export function renderInstalled(url: string): string {
  return renderStep('Installed', 'Type /cdn in Slack to begin.', ['Open Slack', url]);
}

export function renderNotInstalled(reason: string): string {
  return renderStep('Not installed', `${reason} Nothing was stored.`, ['Start again', 'install']);
}

function renderNote(kind: 'good' | 'bad', { message, hint }: KeyProblem): Html {
  return html`<div class="note ${kind}" role="${kind === 'bad' ? 'alert' : 'status'}"><strong>${message}</strong>${hint ?? ''}</div>`;
}

function renderDocument(title: string, body: Html): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex, nofollow">
<title>${title} · CDN bot</title>
<style>${{ markup: style }}</style>
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

type Html = { readonly markup: string };

function html(texts: TemplateStringsArray, ...parts: readonly (string | Html | readonly Html[])[]): Html {
  const markups = parts.map((part) =>
    typeof part === 'string'
      ? part.replace(/[&<>"']/gu, (sign) => entities[sign] ?? '')
      : [part]
          .flat()
          .map(({ markup }) => markup)
          .join(''),
  );
  return { markup: String.raw({ raw: texts }, ...markups) };
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** The page's whole look. One constant, because the page's security policy names it by its hash. */
export const style = `
:root {
  color-scheme: light dark; --soft: light-dark(#5a606b, #a2a9b5); --line: light-dark(#e2e4e9, #2c313a);
  --bad: light-dark(#b42318, #ffb4ab); --good: light-dark(#05603a, #86e0af);
}
* { box-sizing: border-box; }
body {
  margin: 0; padding: 32px 16px; overflow-wrap: anywhere; font: 16px/1.55 system-ui, sans-serif;
  background: light-dark(#ffffff, #181b21); color: light-dark(#16181d, #eceef2);
}
main { max-width: 460px; margin: 0 auto; }
h1 { margin: 0 0 10px; font-size: 24px; line-height: 1.25; }
h2 { margin: 24px 0 8px; font-size: 17px; line-height: 1.3; }
ul { padding-left: 20px; }
a, code { color: inherit; font-size: 0.95em; }
.name, .soft, .hint, .who span { color: var(--soft); font-size: 14px; }
.who span, .note strong, li .soft, label { display: block; }
.who, .note { margin: 18px 0; padding: 12px 14px; border: 1px solid var(--line); border-radius: 10px; }
.bad { color: var(--bad); border-color: currentColor; }
.good { color: var(--good); border-color: currentColor; }
label { margin: 14px 0 6px; font-weight: 600; }
input, button, .button {
  display: block; width: 100%; min-height: 48px; padding: 10px 14px; border-radius: 10px; font: inherit;
}
input { border: 1px solid var(--soft); background: transparent; color: inherit; }
input[aria-invalid="true"] { border-color: var(--bad); }
button, .button {
  margin-top: 18px; border: 0; background: light-dark(#1d4ed8, #7ea6ff); color: light-dark(#ffffff, #0b1220);
  font-weight: 600; text-align: center; text-decoration: none; cursor: pointer;
}
`;

/** Posts to `postTo`, relative to the page. */
export function renderTokenForm(page: {
  readonly shownFor: string;
  readonly postTo: string;
  readonly longestDays: number;
}): string {
  return renderDocument(
    'Create a token',
    html`<h1>Create a token</h1>
<p>A client that has it acts as you: it reads what you may read, and requests what you may request.</p>
<p class="who"><span>This page creates a token for</span><strong>${page.shownFor}</strong></p>
<form method="post" action="${page.postTo}" autocomplete="off">
<label for="name">Where it is used</label>
<input id="name" name="name" required maxlength="40" autofocus placeholder="laptop">
<label for="days">Expires after (days)</label>
<input id="days" name="days" type="number" min="1" max="${String(page.longestDays)}" value="30" required>
<button type="submit">Create token</button>
</form>`,
  );
}

export function renderTokenMade(made: {
  readonly token: string;
  readonly name: string;
  readonly at: string;
}): string {
  return renderDocument(
    'Copy your token',
    html`<h1>Copy your token</h1>
<p>You see it only once. Anyone who has it can act as you.</p>
<p><code>${made.token}</code></p>
<p>In your client, for <strong>${made.name}</strong>: the address <code>${made.at}</code>, and the header <code>Authorization: Bearer</code> with the token.</p>
<p class="soft"><code>/cdn token</code> in Slack lists and revokes it.</p>`,
  );
}
