import type { HomeView, KnownBlock } from '@slack/types';
import type { Rights } from '../auth/policy.ts';
import { actions, context, header, limits, section, typing } from './blocks.ts';
import { connectButton, forgetButton } from './connect.ts';
import { moment } from './dates.ts';
import { type Failure, failure } from './failure.ts';
import { rightsLine } from './rights.ts';
import { code, foreign } from './text.ts';

/** What one feature adds to the tab. */
export interface HomeSection {
  readonly name: string;
  readonly blocks: readonly KnownBlock[];
}

/** The Home tab: who I am, whether my key is connected, the next step. */
export function home(me: {
  readonly userId: string;
  readonly linked: { readonly fingerprint: string; readonly linkedAt: Date } | undefined;
  readonly rights: Rights;
  readonly sections: readonly HomeSection[];
  readonly asOf: Date;
}): HomeView {
  const { linked, rights } = me;
  const state = linked
    ? `<@${me.userId}>, *your CDN key is connected.*\nFingerprint ${code(linked.fingerprint)} · since ${moment(linked.linkedAt)} · ${rightsLine(rights)}`
    : `<@${me.userId}>, *no CDN key is connected for you.*\nConnect yours, and the bot shows you what your key may see.\n${rightsLine(rights)}`;
  const top: KnownBlock[] = [
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
  ];
  const foot = context(`Type \`/cdn\` anywhere. As of ${moment(me.asOf)}.`);
  const room = limits.homeBlocks - top.length - 1;
  return { type: 'home', blocks: [...top, ...fitted(me.sections, room), foot] };
}

/** In the place of a section that could not be drawn. */
export function failedSection(name: string, failed: Failure): KnownBlock[] {
  return [section(`*${titleOf(name)}*`), ...(failure(failed).blocks ?? [])];
}

/** Every section has its share of the room; one that needs more ends visibly. */
function fitted(sections: readonly HomeSection[], room: number): KnownBlock[] {
  const share = Math.floor(room / Math.max(1, sections.length));
  return sections.flatMap(({ name, blocks }) =>
    blocks.length <= share
      ? blocks
      : [...blocks.slice(0, share - 1), context(`There is more of ${titleOf(name)} than fits in here.`)],
  );
}

function titleOf(feature: string): string {
  return foreign(feature.replaceAll('-', ' '));
}
