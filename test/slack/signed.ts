import { createHmac } from 'node:crypto';

const form = 'application/x-www-form-urlencoded';

/** The headers with which Slack signs this body. */
export function sign(
  body: string,
  secret: string,
  { at = Date.now(), type = form }: { at?: number; type?: string } = {},
): Record<string, string> {
  const timestamp = String(Math.floor(at / 1000));
  const signature = createHmac('sha256', secret).update(`v0:${timestamp}:${body}`).digest('hex');
  return {
    'content-type': type,
    'x-slack-request-timestamp': timestamp,
    'x-slack-signature': `v0=${signature}`,
  };
}

/** The form of `/cdn help`. Each trigger id is worked on once. */
export const commandForm = (triggerId: string, text = 'help'): string =>
  `command=%2Fcdn&text=${text}&team_id=T0ACME000&user_id=U0ALICE00&trigger_id=${triggerId}`;
