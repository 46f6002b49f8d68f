import type { HomeView, KnownBlock, ModalView } from '@slack/types';
import type { Rights } from '../auth/policy/policy.ts';
import { actions, compact, context, header, limits, section } from './blocks/blocks.ts';
import { commandButton, connectButton } from './blocks/buttons.ts';
import { type Failure, renderFailure } from './blocks/failure.ts';
import { agree, andMore, countOf, formatCount, formatMoment, pluralize } from './blocks/format.ts';
import { modal } from './blocks/inputs.ts';
import { replaceNativeBlocks } from './blocks/native.ts';
import { capitalize, escapeMrkdwn, formatCode, join } from './blocks/text.ts';
import { type KeyUser, keyButtons } from './connect/connect.ts';
import { type CommandSummary, commandRow } from './help.ts';
import { rightsLine } from './settings/why.ts';

/** The part of one feature in the tab; an urgent one stands before the buttons. */
interface HomeSection {
  readonly isUrgent: boolean;
  readonly blocks: readonly KnownBlock[];
}

export function renderState(state: {
  readonly linked: boolean;
  readonly incidents: number;
  /** Of alerts that this person does not see in the list. */
  readonly incidentsOfOthers: number;
  /** Zones with origin errors in the last hour, those with most first; a name may not be known. */
  readonly failing: readonly (string | undefined)[];
  /** Zones of which it is known whether they fail. */
  readonly checked: number;
  /** As they were read last. */
  readonly zones: { readonly zones: number; readonly attention: number; readonly takenAt: Date } | undefined;
  readonly underWay: number;
}): KnownBlock[] {
  const { linked, incidents, incidentsOfOthers, failing, checked, zones, underWay } = state;
  const names = failing.flatMap((name) => (name ? [escapeMrkdwn(name, 40)] : [])).slice(0, 3);
  const which = join([names.join(', '), andMore(failing.length - names.length)], ' ');
  const attention = zones?.attention ?? 0;
  const facts = [
    incidents > 0 && `:red_circle: *${pluralize(incidents, 'incident')} open*`,
    incidentsOfOthers > 0 &&
      `:red_circle: *${pluralize(incidentsOfOthers, 'incident')} open* from other people’s alerts`,
    failing.length > 0 &&
      `:rotating_light: *${pluralize(failing.length, 'zone fails', 'zones fail')} now*${names.length > 0 ? `: ${which}` : ''}`,
    failing.length > 0 &&
      zones &&
      zones.zones > checked &&
      `${countOf(zones.zones - checked, zones.zones, 'zone')} not checked`,
    attention > 0
      ? `:warning: *${pluralize(attention, 'zone')}* ${agree(attention, 'needs', 'need')} attention`
      : zones && zones.zones > 0 && `none of ${formatCount(zones.zones, 'zone')} reports a problem`,
    underWay > 0 && `${pluralize(underWay, 'export')} under way`,
  ];
  const look =
    incidents > 0
      ? commandButton('Incidents', 'alert list')
      : failing.length > 0
        ? commandButton('Show errors', 'errors')
        : attention > 0 && commandButton('Show them', 'zones only:attention');
  const read = zones ? `zones as of ${formatMoment(zones.takenAt)}` : linked && unread;
  const line = capitalize(join(facts, ' · '));
  return compact<KnownBlock>([line !== '' && section(line, look), read && context(read)]);
}

const unread =
  'The state of your zones is not known yet: press *Zones* to see what needs attention, *Origin errors* to see what fails.';

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

export function renderFailedSection(name: string, failed: Failure): KnownBlock[] {
  return [
    section(`*${escapeMrkdwn(name.replaceAll('-', ' '))}*`),
    ...replaceNativeBlocks(renderFailure(failed).blocks ?? []),
  ];
}
