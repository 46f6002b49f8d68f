/** The words by which a message about a step is found; each answer as a whole is in a snapshot. */
export const says = {
  ranStep: (id: string) => new RegExp(`Ran the workflow step ${id}`),
  byWorkflow: (reason: string) =>
    new RegExp(`A workflow asked for @Alice[^]*${reason}[^]*in the workflow’s words`),
};
