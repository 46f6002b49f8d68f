/** A command to run instead of a wrong one: a button with its label and the words it types. */
export type Instead = { readonly label: string; readonly types: string };

// Of the file system, and PostgreSQL's disk_full.
const fullDisk = new Set(['ENOSPC', 'EDQUOT', '53100']);

/** True where a write failed for lack of room, in a file or in the database. */
export function isDiskFull(error: unknown): boolean {
  return error instanceof Error && 'code' in error && fullDisk.has(String(error.code));
}

/** True where the database takes no writes: a standby, or a primary during a failover. */
export function isReadOnly(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === '25006';
}

// PostgreSQL's class 08, its shutdown and start, no room for a connection, a user or database that it refuses; of the driver
// and its pool there are only words.
const lostCodes =
  /^(?:08...|57P0[123]|53[23]00|28...|3D000|ECONN\w+|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EHOSTUNREACH|EPIPE)$/u;
const lostWords =
  /connection terminated|is not queryable|not currently accepting connections|no database connection was free|query read timeout|timeout exceeded when trying to connect/iu;

/** True where a query failed because the database could not be reached. */
export function isDatabaseLost(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return lostWords.test(error.message) || ('code' in error && lostCodes.test(String(error.code)));
}

const cutCodes = /^(?:08...|57P0[12]|ECONNRESET|EPIPE|ETIMEDOUT)$/u;
const cutWords = /connection terminated|is not queryable|query read timeout/iu;

/** True where the database may have carried out what it did not answer, such as the commit of a transaction. */
export function isAnswerLost(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return cutWords.test(error.message) || ('code' in error && cutCodes.test(String(error.code)));
}

/**
 * The only error whose text people see: `message` is the problem, `hint` the next step. `offer` is a button (`connect`
 * links a key, `why` shows the decision, `settings` opens them, `ask` has no button: an admin can help) or commands to run instead. `reference` is set where the log already has one.
 * Every other error is a bug: logged with a reference and shown as an apology.
 */
export class UserError extends Error {
  override readonly name = 'UserError';
  readonly hint: string | undefined;
  readonly offer: 'connect' | 'why' | 'ask' | 'settings' | readonly Instead[] | undefined;
  readonly reference: string | undefined;

  constructor(message: string, hint?: string, offer?: UserError['offer'], reference?: string) {
    super(message);
    this.hint = hint;
    this.offer = offer;
    this.reference = reference;
  }
}

/** Nothing was sent, since it held a secret. Already logged under the reference. */
export class SecretLeakBlocked extends Error {
  override readonly name = 'SecretLeakBlocked';
  readonly reference: string;

  constructor(sink: string, reference: string) {
    super(`blocked on its way to ${sink}: it held a secret`);
    this.reference = reference;
  }
}
