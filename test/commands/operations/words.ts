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
  deleted: (volumeId: string) => new RegExp(`${volumeId}[^]*2 instances deleted`),
  variableIsSet: /^:white_check_mark: FEATURE_X/,
  restored: /^:white_check_mark: Restored the previous value of FEATURE_X/,
  nowRequired: /is now required/,
  reportsOtherValue: /outcome unknown[^]*but reports another value/,
  reportsOtherRule: /outcome unknown[^]*but reports it as not required/,
  noUndo: /No undo: the CDN does not reveal the previous value/,
  needsOneApproval: /needs 1 approval/,
  /** Counted, and more are needed. */
  counted: /Counted: 1 of 2/,
  approved: (volumeId = '') => new RegExp(`Approved\\. It runs now[^]*${volumeId}`),
  decided: /Already decided/,
  countedBefore: /You already approved this/,
  ownRequest: /You requested this/,
  notAnApprover: /needs the approver role/,
  notAnOperator: /needs the operator role/,
  foreignOrganisation: /only answers people in its own organization/,
  noSuchRequest: /This request no longer exists/,
  isVoid: /void and will not run/,
  keyReplaced: /key is no longer the one/,
  voided: (volumeId: string) => new RegExp(`${volumeId}[^]*not done[^]*It is void`),
  tooFewApprovers: /only 2 other people can give one/,
  cancelled: /Cancelled\. Nothing was changed/,
  cancelledWithKey: /Disconnected[^]*\d waiting requests? cancelled/,
  noted: /Noted as done/,
  waitingList: /for your approval/,
  auditTable: /\d records\*?, none/,
  valueTyped: /don’t go into the command/,
  noSuchVariable: /does not know this script or variable/,
  /** What is asked before an approval counts. */
  confirms: (volumeId: string) => new RegExp(`volume ${volumeId} of [^"]*1 zone depends on it`),
  affected: /depends? on it:/,
  /** Before a volume is deleted. */
  consequences: /Cannot be undone/,
};
