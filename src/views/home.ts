import type { HomeView, KnownBlock, ModalView } from '@slack/types';
import type { Rights } from '../auth/policy/policy.ts';
import { actions, compact, context, header, limits, section } from './blocks/blocks.ts';
import { commandButton, connectButton } from './blocks/buttons.ts';
import { type Failure, renderFailure } from './blocks/failure.ts';
import { agree, formatMoment, listSome, pluralize } from './blocks/format.ts';
import { modal } from './blocks/inputs.ts';
import { replaceNativeBlocks } from './blocks/native.ts';
import { escapeMrkdwn, formatCode, join } from './blocks/text.ts';
import { type KeyUser, keyButtons } from './connect/connect.ts';
import { type CommandSummary, commandRow } from './help.ts';
import { rightsLine } from './settings/why.ts';

/** The part of one feature in the tab; an urgent one stands before the buttons. */
interface HomeSection {
  readonly isUrgent: boolean;
  readonly blocks: readonly KnownBlock[];
}

export function renderState(counts: {
  readonly incidents: number;
  /** Names of zones with origin errors in the last hour, those with most first. */
  readonly failing: readonly string[];
  readonly attention: number;
  readonly underWay: number;
}): KnownBlock[] {
  const { incidents, failing, attention, underWay } = counts;
  const names = failing.map((name) => escapeMrkdwn(name, 40));
  const facts = [
    incidents > 0 && `:red_circle: *${pluralize(incidents, 'incident')} open*`,
    failing.length > 0 &&
      `:rotating_light: *${pluralize(failing.length, 'zone fails', 'zones fail')} now*: ${listSome(names, 3)}`,
    attention > 0 &&
      `:warning: *${pluralize(attention, 'zone')}* ${agree(attention, 'needs', 'need')} attention`,
    underWay > 0 && `${pluralize(underWay, 'export')} under way`,
  ];
  const look =
    incidents > 0
      ? commandButton('Incidents', 'alert list')
      : failing.length > 0
        ? commandButton('Show errors', 'errors')
        : attention > 0 && commandButton('Show them', 'zones only:attention');
  return facts.some(Boolean) ? [section(join(facts, ' · '), look)] : [];
}

export function renderHome(shown: {
  readonly userId: string;
  readonly linked: { readonly fingerprint: string; readonly linkedAt: Date } | undefined;
  readonly rights: Rights;
  readonly commands: readonly CommandSummary[];
  readonly sections: readonly HomeSection[];
  readonly pausing: readonly KeyUser[];
  readonly asOf: Date;
}): HomeView {
  const { userId, linked, rights, commands, sections, pausing, asOf } = shown;
  const top = compact<KnownBlock>([
    header('Your CDN, from Slack'),
    !linked &&
      section([`<@${userId}>, *you have no API key connected.*`, 'Connect yours to see your zones here.']),
    !linked && actions(connectButton()),
  ]);
  const row = commandRow(commands);
  const bottom = compact<KnownBlock>([
    linked && section('*Your key*'),
    linked && actions(...keyButtons(pausing)),
    linked &&
      context(
        `Fingerprint ${formatCode(linked.fingerprint)} · connected since ${formatMoment(linked.linkedAt)}`,
      ),
    context(rightsLine(rights)),
    context(`Type \`/cdn\` in any channel. As of ${formatMoment(asOf)}.`),
  ]);
  const blocksOf = (isUrgent: boolean): KnownBlock[] =>
    sections.flatMap((one) => (one.isUrgent === isUrgent ? one.blocks : []));
  const above = compact([...top, ...blocksOf(true).slice(0, 50), row, ...blocksOf(false)]);
  const room = limits.homeBlocks - bottom.length;
  const more = context('There is more: `/cdn approvals`, `/cdn digest list` and `/cdn alert list` show all.');
  const kept = above.length > room ? [...above.slice(0, room - 1), more] : above;
  return { type: 'home', blocks: [...kept, ...bottom] };
}

export function renderMenu(commands: readonly CommandSummary[], linked: boolean): ModalView {
  return modal({ title: 'CDN' }, [
    !linked && section('*You have no API key connected.*\nConnect one to see your zones.'),
    !linked && actions(connectButton()),
    commandRow(commands),
  ]);
}

export const menuSkeleton = modal({ title: 'CDN' }, [section('Loading your commands…')]);

export function renderFailedSection(name: string, failed: Failure): KnownBlock[] {
  return [
    section(`*${escapeMrkdwn(name.replaceAll('-', ' '))}*`),
    ...replaceNativeBlocks(renderFailure(failed).blocks ?? []),
  ];
}
