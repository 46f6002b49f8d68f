import { type Html, html, renderDocument, renderStep } from './page.ts';

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
<p>In the database of whoever runs it (<strong>${host}</strong>):</p>
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

function capitalize(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1);
}

export function renderInstalled(url: string): string {
  return renderStep('Installed', 'Type /cdn in Slack to begin.', ['Open Slack', url]);
}

export function renderNotInstalled(reason: string): string {
  return renderStep('Not installed', `${reason} Nothing was stored.`, ['Start again', 'install']);
}
