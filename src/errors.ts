/**
 * The one error whose words people see as they are: `message` says what is wrong, `hint` what to do next.
 * `offer` names a next step that is drawn as a button (`connect` opens the form that links a key).
 * Everything else that is thrown is ours: logged with a reference and shown as an apology.
 */
export class UserError extends Error {
  override readonly name = 'UserError';
  readonly hint: string | undefined;
  readonly offer: 'connect' | undefined;

  constructor(message: string, hint?: string, offer?: 'connect') {
    super(message);
    this.hint = hint;
    this.offer = offer;
  }
}
