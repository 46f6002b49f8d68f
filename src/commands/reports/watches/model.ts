import type { JobContext } from '../../../store/queue/define-job.ts';
import type { Accounts } from '../accounts/reads.ts';
import type { Scheduled, SchedulePorts } from '../schedules/model.ts';
import type { ConditionSettings, Evidence, Part } from './conditions/condition.ts';
import type { ConditionName } from './conditions/list.ts';
import type { WeekHours } from './hours.ts';

/** What an alert looks at, and how often. */
export interface AlertSubject extends ConditionSettings {
  readonly condition: ConditionName;
  /** Names of its targets by id, as they were when it was saved. */
  readonly called?: Readonly<Record<string, string>> | undefined;
  /** Minutes between two looks. */
  readonly every: number;
  /** Undefined = at any hour. */
  readonly hours?: WeekHours | undefined;
  /** IANA: times in its messages are times there. */
  readonly timeZone: string;
  /** User ids and user-group ids that a new incident names. */
  readonly names: readonly string[];
  /** Says every day at nine that it looks. */
  readonly lifeSign: boolean;
}

/** The content of the form. */
export interface AlertOrder {
  readonly subject: AlertSubject;
  readonly channel: string;
}

export type Alert = AlertOrder &
  Scheduled & {
    readonly looks: number;
    readonly lookedAt: Date | undefined;
    readonly snoozed: { readonly until: Date; readonly by: string } | undefined;
    readonly aliveAt: Date | undefined;
    readonly state: AlertState;
  };

/** What an alert knows from look to look. */
export interface AlertState {
  /** Whether something was wrong at the newest looks, the newest last. */
  readonly recent: readonly boolean[];
  /** Consecutive looks that failed, and the moment of the first. */
  readonly blind?: { readonly since: string; readonly looks: number } | undefined;
  /** The condition's own memory. */
  readonly memory?: unknown;
  /** The figures of the newest look, for *Why*. */
  readonly evidence?: readonly Evidence[] | undefined;
}

/** An incident as it is shown. */
export interface Incident {
  readonly id: string;
  readonly alertId: string;
  /** `blind`: the alert could not look. */
  readonly kind: 'wrong' | 'blind';
  readonly openedAt: Date;
  readonly closedAt: Date | undefined;
  readonly figures: IncidentFigures;
  /** Messages put into its thread. */
  readonly replies: number;
  /** The outbox id of its newest message; undefined where none was put yet. */
  readonly message: string | undefined;
  readonly acknowledged: { readonly by: string; readonly at: Date } | undefined;
}

/** Plain data, stored as JSON. Moments are ISO text. */
export interface IncidentFigures {
  /** What is wrong, the worst first; at most fifty. Of a closed incident: what was wrong at last. */
  readonly parts: readonly IncidentPart[];
  /** Names of everything that was wrong in it, at most fifty. */
  readonly everything: readonly string[];
  /** The look with the highest value, or with most parts where there is no value. */
  readonly worst: { readonly at: string; readonly value?: number | undefined; readonly parts: number };
  /** The sum of what the condition counted, where it counts. */
  readonly total?: number | undefined;
  /** Value by look, for the chart: the newest 288. */
  readonly series: readonly (readonly [at: string, value: number])[];
  readonly lookedAt: string;
  /** Of one that did not end, since its alert was deleted or looks for something else: what it looked for. */
  readonly left?: AlertSubject | undefined;
  /** Of a blind one: why the last look failed, and the reference that is in the log. */
  readonly failure?: { readonly message: string; readonly reference?: string | undefined } | undefined;
}

export interface IncidentPart extends Part {
  /** Consecutive looks in which it was not wrong any more. */
  readonly calm: number;
}

/** Ports of the alerts' jobs and messages. */
export interface AlertPorts extends SchedulePorts {
  readonly accounts: Pick<Accounts, 'open'>;
}

export type AlertContext = JobContext<AlertPorts>;
