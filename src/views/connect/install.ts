import { type Html, html, renderDocument, renderStep } from './page.ts';

/** A permission in words: what it is for, and what is lost without it. */
interface Permission {
  readonly use: string;
  readonly lost: string;
  readonly optional?: true;
}

/**
 * The first page of an installation, before Slack's. `url` is Slack's, where a person agrees to it; `host` is where this bot
 * runs.
 */
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
<p>With it your team runs its content delivery platform by one command, <code>/cdn</code>. It acts with each person’s own CDN key, so it can do nothing that they cannot. Answers are private unless somebody shares them.</p>
<h2>What it does with Slack’s permissions</h2>
<ul>${list(false)}</ul>
<h2>Optional permissions</h2>
<p>You may leave these out in Slack; everything else works without them.</p>
<ul>${list(true)}</ul>
<p class="soft">Slack tells it of its command, of mentions and of messages to itself, not of what people write to each other.</p>
<h2>What it keeps</h2>
<p>In the database of whoever runs it (<strong>${host}</strong>):</p>
<ul>
<li>CDN keys that people connect, and Slack’s token for this workspace, both encrypted.</li>
<li>Settings, digests, watches, approvals, and a record of who did what. It holds ids of people and channels.</li>
<li>Messages that it has yet to post, and for a while those it has posted. None of people’s.</li>
</ul>
<h2>Who can remove it</h2>
<p>Every admin of the workspace, under <em>Manage apps</em> in Slack, and whoever Slack lets manage apps. With that its token and all connected keys are destroyed. <code>/cdn disconnect</code> removes one’s own key at any time.</p>
<p><a class="button" href="${url}">Add to Slack</a></p>
<p class="soft">Slack then shows the same permissions in its own words, and asks whether you agree.</p>`,
  );
}

function renderPermission(scope: string, { use, lost, optional }: Permission): Html {
  const without = optional ? html`<span class="soft">Without it: ${lost}.</span>` : '';
  return html`<li>${capitalize(use)}. <code>${scope}</code> ${without}</li>
`;
}

function capitalize(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1);
}

export function renderInstalled(url: string): string {
  return renderStep('Installed', 'Type /cdn in Slack to begin.', ['Open Slack', url]);
}

export function renderNotInstalled(reason: string): string {
  return renderStep('Not installed', `${reason} Nothing was stored.`, ['Start again', 'install']);
}
