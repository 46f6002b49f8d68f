/** The words by which a message about a step is found; each answer as a whole is in a snapshot. */
export const says = {
  ranStep: (id: string) => new RegExp(`Ran the workflow step ${id}`),
  asksToConfirm: (volumeId: string) =>
    new RegExp(`A workflow that you ran asks to delete volume ${volumeId} `),
  byWorkflow: (reason: string) => new RegExp(`By a workflow: ${reason}`),
  tooLate: /answered before, or its workflow has ended/,
};
