import type { Button, ModalView } from '@slack/types';
import type { LinkedKey } from '../../auth/keys/key-store.ts';
import type { Rights } from '../../auth/policy/policy.ts';
import { actions, context, type FormResult, type Message, message, say, section } from '../blocks/blocks.ts';
import { button, commandButton, confirmation, connectButton } from '../blocks/buttons.ts';
import { formatCount, formatMoment, formatShortDay, listSome, pluralize } from '../blocks/format.ts';
import { formResult, modal, textInput } from '../blocks/inputs.ts';
import { escapeMrkdwn, formatCode, join, plainText, truncateLines } from '../blocks/text.ts';
import { rightsLine } from '../settings/why.ts';

/** The reason for which a key was not connected: mrkdwn in Slack, plain text on the page. */
export type KeyProblem = { readonly message: string; readonly hint?: string };

export interface Connected extends Pick<LinkedKey, 'fingerprint'> {
  readonly zones: string;
}

const fromPanel = (keysAt: string | undefined): string => `from ${keysAt ?? 'the control panel'}`;
const inPanel = (keysAt: string | undefined): string => (keysAt ? `at ${keysAt}` : 'in the control panel');

export function keyButtons(pausing: readonly KeyUser[]): [replace: Button, forget: Button] {
  return [connectButton('Replace key', {}), forgetButton(pausing)];
}

export interface KeyUser {
  readonly kind: string;
  readonly id: string;
  /** `Origin errors, shop` */
  readonly what: string;
  readonly channel: string;
}

/** The form for a key. `problem` is the reason for showing it again; the typed key is never put back. */
export function renderConnectForm(keysAt: string | undefined, problem?: KeyProblem): ModalView {
  return modal({ callbackId: 'connect:submit', title: 'Connect a bunny.net key', submit: 'Connect' }, [
    problem && section(`:warning: *${problem.message}*\n${problem.hint ?? ''}`),
    section(
      `Copy your bunny.net API key ${fromPanel(keysAt)}. It passes through Slack to this ` +
        'bot, which checks it with one request and stores it encrypted, for you only. It replaces the key you connected before.',
    ),
    textInput('accessKey', 'API key', {
      hint: 'Make sure nobody sees your screen.',
      placeholder: 'Paste the key',
      maxLength: 500,
      focus: true,
    }),
  ]);
}

/** The one-time link to the page. Its address is only in the button, since notifications show the text. */
export function renderPageOffer(offer: {
  readonly url: string;
  readonly minutes: number;
  readonly keysAt: string | undefined;
}): Message {
  const { url, minutes, keysAt } = offer;
  const open = { ...button('Open the page', 'connect:link', 'page', { style: 'primary' }), url };
  const shown = message('Connect your bunny.net API key on a web page.', [
    section(
      `*Connect your bunny.net API key on a web page.* It goes straight to the bot, not through Slack, and is stored ` +
        `encrypted, for you only. Copy it ${fromPanel(keysAt)}.`,
    ),
    actions(open),
    context(
      `The link works once, for ${formatCount(minutes, 'minute')}. Don’t share it: a key entered there acts in your name.`,
    ),
  ]);
  return { ...shown, carries: ['link-token'] };
}

export function renderConnectedOnPage({ fingerprint, zones }: Connected): Message {
  const text = `An API key was connected for you on the bot’s page. It sees ${zones}.`;
  return message(`${text} Wasn’t you? Disconnect it.`, [
    section(`:key: *${text}*\nFingerprint ${formatCode(fingerprint)}. Wasn’t you? Disconnect it.`),
    actions(forgetButton([], 'Disconnect', { style: 'danger' })),
  ]);
}

export function renderConnected({ fingerprint, zones }: Connected): FormResult {
  const text = `Connected. Your key sees ${zones}.`;
  return formResult({ callbackId: 'connect:done', title: 'Connected' }, text, [
    section(`:white_check_mark: *Connected.* Your key sees ${zones}. It is stored encrypted.`),
    section('Next: `/cdn zones` lists your zones, `/cdn errors` shows which fail, `/cdn help` has the rest.'),
    context(
      `Fingerprint ${formatCode(fingerprint)} · \`/cdn whoami\` shows it, \`/cdn disconnect\` forgets the key.`,
    ),
  ]);
}

export function renderNotConnected(why: KeyProblem): Message {
  const text = `${why.message} ${why.hint ?? ''}`;
  return message(text, [section(`:warning: ${text}`), actions(connectButton('Open the form again'))]);
}

export function renderWhoami(me: {
  userId: string;
  linked: LinkedKey | undefined;
  rights: Rights;
  pausing: readonly KeyUser[];
}): Message {
  const { userId, linked, rights, pausing } = me;
  const line = rightsLine(rights);
  if (!linked) {
    const instead = rights.admin
      ? 'You are an admin: `/cdn settings` works without a key.'
      : 'Connect one to read your zones.';
    return message(`No API key connected. ${line}`, [
      section(`<@${userId}>, *you have no API key connected.* ${instead}\n${line}`),
      actions(connectButton(), rights.admin && commandButton('Settings', 'settings', 1)),
    ]);
  }
  const { fingerprint, linkedAt } = linked;
  return message(`Your API key is connected (fingerprint ${fingerprint}), ${line}.`, [
    section(
      `<@${userId}>, *your API key is connected.*\nFingerprint ${formatCode(fingerprint)} · since ${formatMoment(linkedAt)} · ${line}`,
    ),
    actions(commandButton('Zones', 'zones'), ...keyButtons(pausing)),
  ]);
}

/** `cancelled`: how many requests that waited were cancelled with it. `pausing`: digests and alerts that run with the key. */
export function renderDisconnected(done: {
  readonly had: boolean;
  readonly cancelled: number;
  readonly pausing: readonly KeyUser[];
  readonly keysAt: string | undefined;
}): Message {
  const { had, cancelled, pausing, keysAt } = done;
  const forgotten = had
    ? `Disconnected: the bot deleted your API key. It stays valid until you delete it ${inPanel(keysAt)}.`
    : 'You have no API key connected.';
  const requests = cancelled > 0 ? ` ${pluralize(cancelled, 'waiting request')} cancelled.` : '';
  const reports = pausing.map(({ kind, id, what, channel }) => {
    const place = /^[CG]/u.test(channel) ? `<#${channel}>` : 'your direct messages';
    return `${kind} ${formatCode(id, 40)} (${escapeMrkdwn(what, 60)}) in ${place}`;
  });
  const paused = reports.length > 0 ? `\nPaused with it: ${truncateLines(reports, 1_500, ', ')}.` : '';
  const text = `${forgotten}${requests}${paused}`;
  return say(text, actions(connectButton(had ? 'Connect another key' : 'Connect your key')));
}

/** Contains nothing of the typed text: it may be the key. */
export function renderKeyPasted(
  why: 'looks-like-key' | 'words-after-connect',
  keysAt: string | undefined,
): Message {
  const what =
    why === 'looks-like-key'
      ? 'That looks like an API key, so I didn’t run it.'
      : '`/cdn connect` takes nothing after it, so I didn’t run it.';
  const advice =
    `Slack keeps what you type, so treat that key as exposed: create a new one ${inPanel(keysAt)} and delete the ` +
    'old one. If it is in a message, delete the message too. The bot did not store it.';
  return message(`${what} ${advice}`, [
    section(`:warning: *${what}*`),
    section(advice),
    section('Then connect the new key:', connectButton('Connect the new key')),
  ]);
}

/** Asks once more, since a press is easily an accident, and the key would have to be fetched from the control panel. */
function forgetButton(
  pausing: readonly KeyUser[],
  label = 'Forget my key',
  look: { style?: 'danger' } = {},
): Button {
  const confirm = confirmation(disconnectTitle, describePausing(pausing), 'Disconnect', 'Keep it');
  return button(label, 'connect:forget', 'forget', { ...look, confirm });
}

export function renderDisconnectQuestion(pausing: readonly KeyUser[]): Message {
  const consequences =
    pausing.length > 0
      ? describePausing(pausing)
      : 'No digest or alert uses it. Waiting requests are cancelled.';
  return message(`${disconnectTitle} ${consequences}`, [
    section([`*${disconnectTitle}*`, escapeMrkdwn(consequences, 2_000)]),
    actions(button('Disconnect', 'connect:forget', 'forget', { style: 'danger' })),
  ]);
}

const disconnectTitle = 'Disconnect your API key?';

function describePausing(pausing: readonly KeyUser[]): string {
  const names = pausing.map(({ kind, id, what }) => `${kind} ${id} (${plainText(what, 40)})`);
  const reports = names.length > 0 ? `Pauses ${listSome(names, 3)}.` : 'Pauses your digests and alerts.';
  return `${reports} Waiting requests are cancelled.`;
}

export function countZones(first: { total: number | undefined; zones: unknown[]; more: boolean }): string {
  const { total, zones, more } = first;
  return `${more && total === undefined ? 'more than ' : ''}${pluralize(total ?? zones.length, 'zone')}`;
}

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
        isOff &&
          ':warning: Clients are switched off: an admin can switch them on in `/cdn settings assistant`.',
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
