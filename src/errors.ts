/**
 * The one error whose words people see as they are: `message` says what is wrong, `hint` what to do next.
 * `offer` names a next step that is drawn as a button (`connect` leads to linking a key, `why` shows
 * the decision).
 * Everything else that is thrown is ours: logged with a reference and shown as an apology.
 */
export class UserError extends Error {
  override readonly name = 'UserError';
  readonly hint: string | undefined;
  readonly offer: 'connect' | 'why' | undefined;

  constructor(message: string, hint?: string, offer?: 'connect' | 'why') {
    super(message);
    this.hint = hint;
    this.offer = offer;
  }
}
