import type { VisibleMessage } from '../../../simulator/slack/messages.ts';
import type { VisibleView } from '../../../simulator/slack/views.ts';
import { formatDuration } from '../../../src/views/blocks/format.ts';
import { readStable } from '../../support/words.ts';

const posted = (files: number | string = 1) =>
  new RegExp(files === 1 ? 'the file is below' : `the ${files} files are below`);
const noEvent = /No events of shield zone 501 match,/;

/** What the message of an export says in each of its states: tests wait for it, and have no other way to tell them apart. */
export const says = {
  asking: /Asking the CDN/,
  retriesIn: (seconds: number | undefined, why = '') =>
    new RegExp(
      `${why}\\. Trying again in ${seconds === undefined ? '\\d+' : formatDuration(seconds * 1000)}`,
    ),
  attempt: (nth: number) => new RegExp(`attempt ${nth}`),
  posted,
  noEvent,
  /** With a file or without one. */
  done: new RegExp(`files? (?:is|are) below|${noEvent.source}`),
  failed: /failed; nothing was posted/,
  otherForm: /in a form I do not know/,
  /** Failed or cancelled. */
  notPosted: /nothing was posted/,
  cancelled: /was stopped; nothing was posted/,
  cancelledBy: (name: string) => new RegExp(`Cancelled by @${name}`),
  inDoubt: /may have been posted/,
  notBegun: /did not start/,
  heldBack: /was held back/,
} as const;

/** Answers to a press or a command, for the person alone. */
export const answers = {
  cancelled: /The export was cancelled; nothing was posted/,
  tooLate: /Too late/,
  over: /This export has already ended/,
  ofAnother: /only @.*, who started this export/,
  list: (running: number | 'none') => new RegExp(`exports?, ${running} under way`),
} as const;

/** Lines of `/cdn audit`. */
export const recorded = {
  posted: /Exported /g,
  inDoubt: /May have exported/g,
  cancelledByAlice: /stopped by @Alice/g,
} as const;

/** Events of the log that an operator searches for. */
export const logged = {
  inDoubt: 'message may have been posted or not',
  heldBack: 'blocked a secret',
} as const;

/** The words of an export's message for a snapshot. Windows, and the busiest day soon after midnight, differ with the clock. */
export function readExport(
  { reads }: Pick<VisibleMessage, 'reads'>,
  values: Readonly<Record<string, string | number>> = {},
): string {
  return readStable(reads, values)
    .replaceAll(/^.+–.+ UTC$/gm, '<window>')
    .replaceAll(/\b[\da-f]{32}\b/g, '<request>')
    .replaceAll(/^Most at \d{1,2} [A-Z][a-z]{2} <time>/gm, 'Most at <time>')
    .replaceAll(/(?:\d{1,2} [A-Z][a-z]{2} )?<time>(?: to (?:\d{1,2} [A-Z][a-z]{2} )?<time>)? UTC/g, '<span>');
}

/** What stands above the inputs of a form that came back. */
export function readProblem(view: VisibleView | undefined): string {
  return readStable({ blocks: view?.blocks.slice(0, 1) ?? [] });
}
