import type { HomeView, KnownBlock, ModalView } from '@slack/types';
import type { Rights } from '../auth/policy/policy.ts';
import { actions, compact, context, header, limits, section } from './blocks/blocks.ts';
import { connectButton } from './blocks/buttons.ts';
import { type Failure, renderFailure } from './blocks/failure.ts';
import { formatMoment } from './blocks/format.ts';
import { modal } from './blocks/inputs.ts';
import { replaceNativeBlocks } from './blocks/native.ts';
import { escapeMrkdwn, formatCode } from './blocks/text.ts';
import { keyButtons } from './connect/connect.ts';
import { type CommandSummary, commandRow } from './help.ts';
import { rightsLine } from './settings/why.ts';

/** The part of one feature in the tab. */
export type HomeSection = { readonly name: string; readonly blocks: readonly KnownBlock[] };

/** The Home tab: what waits and runs, four buttons and a menu of the other commands, then key and rights. */
export function renderHome(shown: {
  readonly userId: string;
  readonly linked: { readonly fingerprint: string; readonly linkedAt: Date } | undefined;
  readonly rights: Rights;
  readonly commands: readonly CommandSummary[];
  readonly sections: readonly HomeSection[];
  readonly asOf: Date;
}): HomeView {
  const { userId, linked, rights, commands, sections, asOf } = shown;
  const top = compact<KnownBlock>([
    header('Your content delivery, from Slack'),
    !linked &&
      section([
        `<@${userId}>, *you have no API key connected.*`,
        'Connect yours, and the bot shows you what your key may see.',
      ]),
    !linked && actions(connectButton()),
  ]);
  const bottom = compact<KnownBlock>([
    commandRow(commands),
    linked && section('*Your key*'),
    linked && actions(...keyButtons()),
    linked &&
      context(
        `Fingerprint ${formatCode(linked.fingerprint)} · connected since ${formatMoment(linked.linkedAt)}`,
      ),
    context(rightsLine(rights)),
    context(`Type \`/cdn\` in any channel. As of ${formatMoment(asOf)}.`),
  ]);
  const room = limits.homeBlocks - top.length - bottom.length;
  return { type: 'home', blocks: [...top, ...truncateSections(sections, room), ...bottom] };
}

/** The same commands as a modal, for Slack's ⚡ menu. */
export function renderMenu(commands: readonly CommandSummary[], linked: boolean): ModalView {
  return modal({ title: 'CDN' }, [
    !linked && section('*You have no API key connected.*\nConnect one to see your zones.'),
    !linked && actions(connectButton()),
    commandRow(commands),
  ]);
}

/** Shown until the allowed commands are known. */
export const menuSkeleton = modal({ title: 'CDN' }, [section('Looking up what you may run…')]);

/** Replaces a section that could not be loaded. */
export function renderFailedSection(name: string, failed: Failure): KnownBlock[] {
  return [section(`*${titleOf(name)}*`), ...replaceNativeBlocks(renderFailure(failed).blocks ?? [])];
}

/** Every section gets an equal share of the blocks; a longer one ends with a note. */
function truncateSections(sections: readonly HomeSection[], room: number): KnownBlock[] {
  const share = Math.max(1, Math.floor(room / Math.max(1, sections.length)));
  return sections
    .flatMap(({ name, blocks }) =>
      blocks.length <= share
        ? blocks
        : [...blocks.slice(0, share - 1), context(`There is more of ${titleOf(name)} than fits in here.`)],
    )
    .slice(0, room);
}

function titleOf(feature: string): string {
  return escapeMrkdwn(feature.replaceAll('-', ' '));
}
