/** A command that would be right where what was typed is wrong: a button with its label and the words it types. */
export interface Instead {
  readonly label: string;
  readonly types: string;
}

/**
 * The one error whose words people see as they are: `message` says what is wrong, `hint` what to do next.
 * `offer` names a next step that is drawn as a button (`connect` leads to linking a key, `why` shows
 * the decision), or the commands that would be right instead.
 * `reference` is the one that stands in a record already, where there is one.
 * Everything else that is thrown is ours: logged with a reference and shown as an apology.
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
