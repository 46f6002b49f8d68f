import type { HomeView } from '@slack/types';
import { actions, context, header, section, typing } from './blocks.ts';
import { connectButton, forgetButton } from './connect.ts';
import { moment } from './dates.ts';
import { code } from './text.ts';

/** The Home tab: who I am, whether my key is connected, the next step. */
export function home(me: {
  readonly userId: string;
  readonly linked: { readonly fingerprint: string; readonly linkedAt: Date } | undefined;
  readonly asOf: Date;
}): HomeView {
  const { linked } = me;
  const state = linked
    ? `<@${me.userId}>, *your CDN key is connected.*\nFingerprint ${code(linked.fingerprint)} · since ${moment(linked.linkedAt)} · rights: read`
    : `<@${me.userId}>, *no CDN key is connected for you.*\nConnect yours, and the bot shows you what your key may see.`;
  return {
    type: 'home',
    blocks: [
      header('Your content delivery, from Slack'),
      section(state),
      linked
        ? actions(
            typing('Zones', 'zones', 0, { style: 'primary' }),
            typing('Find a zone', 'zone', 1),
            typing('Help', 'help', 2),
          )
        : actions(connectButton(), typing('Help', 'help', 2)),
      ...(linked ? [actions(connectButton('Replace key'), forgetButton())] : []),
      context(`Type \`/cdn\` anywhere. As of ${moment(me.asOf)}.`),
    ],
  };
}
