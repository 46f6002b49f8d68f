/** The words by which a message or form about an operation is found; each answer as a whole is in a snapshot. */
export const says = {
  asksToDelete: (volumeId = '[^ ]+') => new RegExp(`asks to delete volume ${volumeId} `),
  asksToSet: /asks to set/,
  /** The requester's own message. */
  yourRequest: (volumeId: string, state = '') =>
    new RegExp(`Your request[^]*volume ${volumeId} [^]*${state}`),
  reminds: /Reminder:/,
  /** The last view of a form. */
  answered: /^Sent/,
  waits: 'of \\d approvals?',
  done: 'mark: done ·',
  notDone: 'not done ·',
  outcomeUnknown: 'outcome unknown',
  nothingChanged: 'Nothing was changed',
  checkIt: 'Check whether it was done',
  theCdnSays: 'The CDN says: ',
  checkInPanel: 'Check it in the CDN’s control panel',
  restored: /^:white_check_mark: Restored the previous value of FEATURE_X/,
  nowRequired: /is now required/,
  noUndo: /No undo: the CDN does not reveal the previous value/,
  needsOneApproval: /needs 1 approval/,
  approved: (volumeId = '') => new RegExp(`Approved\\. It runs now[^]*${volumeId}`),
  ownRequest: /You requested this/,
  ownDenial: /You asked for this yourself/,
  notAnApprover: /needs the approver role/,
  notAnOperator: /needs the operator role/,
  noSuchRequest: /This request no longer exists/,
  tooFewApprovers: /only 2 other people can give one/,
  cancelled: /Cancelled\. Nothing was changed/,
  cancelledWithKey: /Disconnected[^]*\d waiting requests? cancelled/,
  noted: /Recorded as done/,
  waitingList: /for your approval/,
  auditTable: /\d records\*?, none/,
  valueTyped: /Don’t type values into the command/,
  noSuchVariable: /does not know this script or variable/,
  /** What is asked before an approval counts. */
  confirms: (volumeId: string) => new RegExp(`volume ${volumeId} of [^"]*1 zone depends on it`),
  /** Before a volume is deleted. */
  consequences: /Cannot be undone/,
};
