import { actions, context, type Message, message, section } from '../blocks/blocks.ts';
import { button, confirmation } from '../blocks/buttons.ts';
import { formatCount, formatShortDay, pluralize } from '../blocks/format.ts';
import { escapeMrkdwn, join, plainText } from '../blocks/text.ts';
import { html, renderDocument } from '../connect/page.ts';

interface ShownToken {
  readonly id: string;
  readonly name: string;
  readonly expiresAt: Date;
}

export function renderTokens(shown: {
  readonly tokens: readonly ShownToken[];
  readonly makeAt: string;
  readonly minutes: number;
  readonly isOff: boolean;
  readonly done: string | undefined;
}): Message {
  const { tokens, makeAt, minutes, isOff, done } = shown;
  const count = tokens.length === 0 ? 'You have no tokens' : `You have ${pluralize(tokens.length, 'token')}`;
  const make = { ...button('Create a token', 'connect:link', 'page', { style: 'primary' }), url: makeAt };
  return {
    ...message(join([done, `${count}.`], ' '), [
      section([
        join([done, `*${count}*. A token lets your editor or terminal use this bot’s tools as you.`], ' '),
        isOff && ':warning: Clients are switched off: an admin can change it in `/cdn settings assistant`.',
      ]),
      ...tokens.map(({ id, name, expiresAt }) =>
        section(
          `*${escapeMrkdwn(name, 60)}* · until ${formatShortDay(expiresAt.toISOString().slice(0, 10))}`,
          button('Revoke', 'tokens:end', id, {
            confirm: confirmation(
              'Revoke the token?',
              `${plainText(name, 60)} can no longer call the bot.`,
              'Revoke',
              'Keep',
            ),
          }),
        ),
      ),
      actions(make),
      context(
        `The page works once, for ${formatCount(minutes, 'minute')}. Disconnecting your key revokes all tokens.`,
      ),
    ]),
    carries: ['link-token'],
  };
}

/** Posts to `postTo`, relative to the page. */
export function renderTokenForm(page: {
  readonly shownFor: string;
  readonly formToken: string;
  readonly postTo: string;
  readonly longestDays: number;
}): string {
  return renderDocument(
    'Create a token',
    html`<h1>Create a token</h1>
<p>A client with it acts as you: it reads what you may read, and asks for what you may ask for.</p>
<p class="who"><span>This page makes a token for</span><strong>${page.shownFor}</strong></p>
<form method="post" action="${page.postTo}" autocomplete="off">
<input type="hidden" name="formToken" value="${page.formToken}">
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
