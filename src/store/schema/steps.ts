import { defineTables } from './define-tables.ts';

/** Runs of Workflow Builder's steps. No secrets. */
export const stepTables = defineTables(
  {
    /** One run of a step in somebody's workflow, from its delivery on. Rows are deleted after a while. */
    step_runs: {
      /** Slack's `function_execution_id`. */
      id: 'text primary key',
      tenant: 'text not null',
      enterprise_id: 'text',
      team_id: 'text not null',
      begun_at: 'timestamptz not null',
      /** The operation that it asked for, with whose end it ends. */
      operation_id: 'text unique references operations',
    },
  },
  [],
);

/** A run that has ended, or is ending, without an operation asks for none any more. */
export const closedSteps = defineTables({}, ['alter table step_runs add column closed_at timestamptz']);
