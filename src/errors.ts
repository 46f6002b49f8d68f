/** A command to run instead of a wrong one: a button with its label and the words it types. */
export type Instead = { readonly label: string; readonly types: string };

// Of the file system, and PostgreSQL's disk_full.
const fullDisk = new Set(['ENOSPC', 'EDQUOT', '53100']);

/** True where a write failed for lack of room, in a file or in the database. */
export function isDiskFull(error: unknown): boolean {
  return error instanceof Error && 'code' in error && fullDisk.has(String(error.code));
}

/**
 * The only error whose text people see: `message` is the problem, `hint` the next step. `offer` is a button (`connect`
 * links a key, `why` shows the decision) or commands to run instead. `reference` is set where the log already has one.
 * Every other error is a bug: logged with a reference and shown as an apology.
 */
export class UserError extends Error {
  override readonly name = 'UserError';
  readonly hint: string | undefined;
  readonly offer: 'connect' | 'why' | readonly Instead[] | undefined;
  readonly reference: string | undefined;

  constructor(message: string, hint?: string, offer?: UserError['offer'], reference?: string) {
    super(message);
    this.hint = hint;
    this.offer = offer;
    this.reference = reference;
  }
}
