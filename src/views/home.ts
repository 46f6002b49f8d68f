import type { HomeView } from '@slack/types';
import type { Rights } from '../auth/policy.ts';
import { actions, context, header, section, typing } from './blocks.ts';
import { connectButton, forgetButton } from './connect.ts';
import { moment } from './dates.ts';
import { rightsLine } from './rights.ts';
import { code } from './text.ts';

/** The Home tab: who I am, whether my key is connected, the next step. */
export function home(me: {
  readonly userId: string;
  readonly linked: { readonly fingerprint: string; readonly linkedAt: Date } | undefined;
  readonly rights: Rights;
  readonly asOf: Date;
}): HomeView {
  const { linked, rights } = me;
  const state = linked
    ? `<@${me.userId}>, *your CDN key is connected.*\nFingerprint ${code(linked.fingerprint)} · since ${moment(linked.linkedAt)} · ${rightsLine(rights)}`
    : `<@${me.userId}>, *no CDN key is connected for you.*\nConnect yours, and the bot shows you what your key may see.\n${rightsLine(rights)}`;
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
      ...(rights.admin ? [actions(typing('Settings', 'settings', 3))] : []),
      context(`Type \`/cdn\` anywhere. As of ${moment(me.asOf)}.`),
    ],
  };
}
