import type { Button, KnownBlock, ModalView } from '@slack/types';
import type { Rights } from '../../auth/policy/policy.ts';
import {
  actions,
  button,
  commandButton,
  connectButton,
  context,
  message,
  plain,
  section,
} from '../blocks/blocks.ts';
import { formatMoment } from '../blocks/dates.ts';
import type { Message } from '../blocks/message.ts';
import { formatCode, pluralize } from '../blocks/text.ts';
import { rightsLine } from '../settings/why.ts';

/** For people with a key: rarely needed, so not in the foreground. */
export function keyButtons(): [replace: Button, forget: Button] {
  return [connectButton('Replace key', {}), forgetButton()];
}

/** The form for a key. `problem` is the reason for showing it again; the typed key is never put back. */
export function renderConnectForm(problem?: { readonly message: string; readonly hint?: string }): ModalView {
  const banner: KnownBlock[] = problem
    ? [section(`:warning: *${problem.message}*${problem.hint ? `\n${problem.hint}` : ''}`)]
    : [];
  return {
    type: 'modal',
    callback_id: 'connect:submit',
    title: plain('Connect your CDN key'),
    submit: plain('Connect'),
    close: plain('Cancel'),
    blocks: [
      ...banner,
      section(
        'What you type here passes through Slack to this bot, which checks it with one read and then keeps it ' +
          'encrypted, for you alone. It is never shown again; a key you connected before is replaced.',
      ),
      {
        type: 'input',
        block_id: 'accessKey',
        label: plain('API key'),
        hint: plain('In the CDN control panel: Account settings, API key. Others may read your screen now.'),
        element: {
          type: 'plain_text_input',
          action_id: 'accessKey',
          placeholder: plain('Paste the key'),
          max_length: 500,
          focus_on_load: true,
        },
      },
    ],
  };
}

/** The one-time link to the page. Its address is only in the button, since notifications show the text. */
export function renderPageOffer(link: { readonly url: string; readonly minutes: number }): Message {
  const offer = message('Here is your page to connect a CDN key.', [
    section(
      '*Connect your CDN key on a page of its own.* It goes straight to the bot, not through Slack, ' +
        'and is kept encrypted, for you alone. A key you connected before is replaced.',
    ),
    actions({
      type: 'button',
      text: plain('Open the page'),
      action_id: 'connect:link',
      url: link.url,
      style: 'primary',
    }),
    context(
      `Works once, for ${pluralize(link.minutes, 'minute')}, and for you only: pass it to nobody, ` +
        'since a key entered there becomes yours to act with.',
    ),
  ]);
  return { ...offer, carries: ['link-token'] };
}

/** Sent whenever a key was connected on the page, so that no one can connect one for another person silently. */
export function renderConnectedOnPage(linked: {
  readonly fingerprint: string;
  readonly zones: string;
}): Message {
  const text = `A CDN key was just connected for you on the bot’s page. It sees ${linked.zones}.`;
  return message(`${text} Not you? Disconnect it.`, [
    section(`:key: *${text}*\nFingerprint ${formatCode(linked.fingerprint)}. Not you? Disconnect it.`),
    actions(forgetButton('Disconnect')),
  ]);
}

export function connectBusy(): ModalView {
  return {
    type: 'modal',
    callback_id: 'connect:busy',
    title: plain('Connect your CDN key'),
    close: plain('Close'),
    blocks: [section('Checking…\nThe bot reads the smallest page of your zones with this key.')],
  };
}

/** The key is connected: in the form, and as a message for a person who closed it. */
export function renderConnected(linked: { readonly fingerprint: string; readonly zones: string }): {
  modal: ModalView;
  message: Message;
} {
  const text = `:white_check_mark: *Your key works and is kept encrypted.* It sees ${linked.zones}.`;
  const blocks: KnownBlock[] = [
    section(text),
    section('Next: type `/cdn zones` for the list, `/cdn zone` for one of them, `/cdn help` for the rest.'),
    context(
      `Fingerprint ${formatCode(linked.fingerprint)} · \`/cdn whoami\` shows it, \`/cdn disconnect\` forgets the key.`,
    ),
  ];
  const modal: ModalView = {
    type: 'modal',
    callback_id: 'connect:done',
    title: plain('Connected'),
    close: plain('Done'),
    blocks,
  };
  return {
    modal,
    message: message(`Your key works and is kept encrypted. It sees ${linked.zones}.`, blocks),
  };
}

/** For a person who closed the form before the check failed. */
export function renderNotConnected(why: { readonly message: string; readonly hint: string }): Message {
  const text = `${why.message} ${why.hint}`;
  return message(text, [section(`:warning: ${text}`), actions(connectButton('Open the form again'))]);
}

export function renderWhoami(me: {
  readonly userId: string;
  readonly linked: { readonly fingerprint: string; readonly linkedAt: Date } | undefined;
  readonly rights: Rights;
}): Message {
  const { rights } = me;
  const line = rightsLine(rights);
  if (!me.linked) {
    const instead = rights.admin
      ? 'You are an admin: `/cdn settings` works without one, the rest needs it.'
      : 'Without one you may run `/cdn help` only.';
    return message(`No CDN key is connected for you. ${line}`, [
      section(`<@${me.userId}>, *no CDN key is connected for you.* ${instead}\n${line}`),
      actions(connectButton(), ...(rights.admin ? [commandButton('Settings', 'settings', 1)] : [])),
    ]);
  }
  const { fingerprint, linkedAt } = me.linked;
  return message(`Your key with the fingerprint ${fingerprint} is connected, ${line}.`, [
    section(
      `<@${me.userId}>, *your CDN key is connected.*\nFingerprint ${formatCode(fingerprint)} · since ${formatMoment(linkedAt)} · ${line}`,
    ),
    actions(commandButton('Zones', 'zones'), ...keyButtons()),
  ]);
}

/** `stopped`: how many requests that waited were cancelled with it. */
export function renderDisconnected(had: boolean, stopped: number): Message {
  const forgotten = had
    ? 'Your CDN key is forgotten. Nothing of it is left here; in the CDN control panel it stays valid.'
    : 'There was no CDN key to forget: none is connected for you.';
  const requests = stopped === 1 ? '1 request of yours' : `${stopped} requests of yours`;
  const text =
    stopped === 0
      ? forgotten
      : `${forgotten} ${requests} waited and ${stopped === 1 ? 'was' : 'were'} cancelled.`;
  return message(text, [
    section(text),
    actions(connectButton(had ? 'Connect another key' : 'Connect your key')),
  ]);
}

/** Contains nothing of the typed text: it may be the key. */
export function renderKeyPasted(why: 'looks-like-key' | 'words-after-connect'): Message {
  const what =
    why === 'looks-like-key'
      ? 'That looks like a key, so nothing was run.'
      : '`/cdn connect` takes no words after it, so nothing was run.';
  const text =
    `${what} Slack keeps what is typed after a command, so a key in there counts as exposed: ` +
    'make a new one in the CDN control panel and delete the old one. It was not stored here.';
  return message(text, [
    section(`:warning: *${what}*`),
    section(text.slice(what.length + 1)),
    section('Then connect the new one:', connectButton('Connect the new key')),
  ]);
}

/** Asks once more, since a press is easily an accident, and the key would have to be fetched from the control panel. */
function forgetButton(label = 'Forget my key'): Button {
  return button(label, 'connect:forget', 'forget', {
    style: 'danger',
    confirm: {
      title: plain('Forget your CDN key?'),
      text: plain('You can connect one again at any time.'),
      confirm: plain('Forget it'),
      deny: plain('Keep it'),
    },
  });
}

/** How many zones a key sees, as far as its first page tells. */
export function zonesSeen(first: {
  readonly total: number | undefined;
  readonly here: number;
  readonly more: boolean;
}): string {
  if (first.total !== undefined) return pluralize(first.total, 'zone');
  return first.more ? `more than ${pluralize(first.here, 'zone')}` : pluralize(first.here, 'zone');
}
