import type { ZoneSummary } from '../api/zones/summary.ts';
import type { Failure } from './blocks/failure.ts';
import { agree, countOf, pluralize } from './blocks/format.ts';
import { capitalize, join, plainText, stripMarkup, truncate, truncateLines } from './blocks/text.ts';
import { describeOutcome, nameInPlainText, type ShownOperation } from './operations/describe.ts';
import { type Report, renderOriginErrors } from './origin-errors/origin-errors.ts';
import { describeSkipped, describeUnknown } from './zones/list.ts';
import { describeNeeds } from './zones/rows.ts';

/*
 * The outputs of Workflow Builder's steps: plain text, since the author of a workflow puts them anywhere. Slack publishes
 * no limit; a section, into which another app's step may put one, takes 3,000 characters.
 */

const maxText = 3000;

/** mrkdwn as text that is no markup anywhere: angle brackets, which make mentions and links, are replaced. */
export function toOutput(mrkdwn: string): string {
  return truncate(stripMarkup(mrkdwn).replaceAll('<', '‹').replaceAll('>', '›'), maxText);
}

/** What a person reads of a step that failed: the sentence, the next step and the reference, without buttons. */
export function describeStepFailure({ message, hint, offer, reference }: Failure): string {
  const next = offer === 'connect' || offer === 'settings' ? `Type \`/cdn ${offer}\` in Slack.` : undefined;
  return toOutput(join([message, hint, next, reference && `Reference ${reference}`], ' '));
}

export function describeAttention(
  zones: readonly ZoneSummary[],
  { all, skipped, unknown }: { readonly all: number; readonly skipped: number; readonly unknown: number },
) {
  const unread = [
    unknown > 0 && `${capitalize(describeUnknown(unknown))}.`,
    skipped > 0 && `${capitalize(describeSkipped(skipped))}.`,
  ];
  const needs = agree(zones.length || 1, 'needs', 'need');
  const found = `${countOf(zones.length, all, 'zone').replace(/^0/u, 'None')} ${needs} attention.`;
  const lines = zones.map((zone) => `${plainText(zone.name, 80)} (${zone.id}): ${describeNeeds(zone)}`);
  return {
    count: zones.length,
    zones: all,
    list: toOutput(truncateLines(lines, maxText)),
    summary: toOutput(join([found, ...unread], ' ')),
  };
}

export function describeErrors(report: Report, today: string) {
  const { counts, skipped } = report;
  const unread = skipped > 0 && `${pluralize(skipped, 'entry', 'entries')} could not be read.`;
  const [most] = [...counts.codes]
    .filter(([code]) => code !== '')
    .toSorted(([, one], [, other]) => other - one);
  const { text } = renderOriginErrors(report, { today, picture: 'kinds', timeZone: undefined });
  return {
    count: counts.total,
    code: most && toOutput(plainText(most[0], 200)),
    summary: toOutput(join([`${text}.`, unread], ' ')),
  };
}

const endings = ['succeeded', 'failed', 'unknown', 'denied', 'expired', 'cancelled'] as const;
type Ended = (typeof endings)[number];

export function hasEnded<Shown extends Pick<ShownOperation, 'state'>>(
  operation: Shown,
): operation is Shown & { readonly state: Ended } {
  return endings.some((state) => state === operation.state);
}

/** `outcome`: a word that a workflow can branch on. `decided_by`: a user id. */
export type DeletionOutputs = Readonly<
  Record<'outcome' | 'reference' | 'summary', string> & { decided_by: string | undefined }
>;

export function describeDeletion(operation: ShownOperation & { readonly state: Ended }): DeletionOutputs {
  const { state, movedBy, approvals, id } = operation;
  const decider = movedBy === 'system' ? approvals.at(-1)?.by : movedBy;
  const outcome = state === 'succeeded' ? 'deleted' : state;
  const sentences = [
    `${capitalize(nameInPlainText(operation))}: ${outcome}.`,
    describeOutcome(operation),
    state === 'unknown' && 'It is in `/cdn approvals`.',
  ];
  return { outcome, decided_by: decider, reference: id, summary: toOutput(join(sentences, ' ')) };
}
