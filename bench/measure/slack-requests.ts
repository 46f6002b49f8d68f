import { createHmac, randomUUID } from 'node:crypto';

/** Who sends something, and the response_url of `answers`. */
export interface Sender {
  readonly user?: string;
  readonly answers?: string;
}

/** What Slack would send. */
export interface SlackRequests {
  /** A signed `/cdn <text>`, ready to be written to a connection. */
  readonly slash: (text: string, options?: Sender) => Buffer;
  /** A signed submission of a form: typed texts, chosen people. */
  readonly submit: (
    callbackId: string,
    values: Readonly<Record<string, string | readonly string[]>>,
    user?: string,
  ) => Buffer;
  /** A signed press of a button in a message of the bot. */
  readonly press: (actionId: string, value: string, options?: Sender) => Buffer;
  /** A signed search in a menu of a form. */
  readonly suggest: (actionId: string, typed: string, user?: string) => Buffer;
  /** The same command as an envelope's payload. */
  readonly slashPayload: (text: string, options?: Sender) => Record<string, string>;
}

export const signingSecret = 'be7c4519a7ed5190c5ec4e7000000000';
const person = 'U0BENCH00';

/** `base`: where Slack listens. `issueTrigger`: a new trigger_id of that sender. */
export function createRequests(base: () => string, issueTrigger: (sender: Sender) => string): SlackRequests {
  const slashPayload: SlackRequests['slashPayload'] = (text, options = {}) => ({
    token: 'bench-verification-token',
    team_id: 'T0BENCH00',
    team_domain: 'bench',
    channel_id: 'C0BENCH00',
    channel_name: 'ops',
    user_id: options.user ?? person,
    user_name: 'ann',
    command: '/cdn',
    text,
    api_app_id: 'A0BENCH00',
    is_enterprise_install: 'false',
    response_url: options.answers ?? `http://${base()}/answers/any`,
    trigger_id: issueTrigger(options),
  });

  return {
    slash: (text, options) => signRequest(new URLSearchParams(slashPayload(text, options)).toString()),
    slashPayload,
    press: (actionId, value, options = {}) =>
      signRequest(
        encodeInteraction({
          ...senderOf(options.user ?? person, issueTrigger(options)),
          type: 'block_actions',
          container: { type: 'message', message_ts: '1.000001', channel_id: 'C0BENCH00', is_ephemeral: true },
          channel: { id: 'C0BENCH00', name: 'ops' },
          response_url: options.answers ?? `http://${base()}/answers/any`,
          actions: [
            {
              type: 'button',
              action_id: actionId,
              block_id: 'b1',
              value,
              action_ts: '1.000002',
              text: { type: 'plain_text', text: 'Press' },
            },
          ],
        }),
      ),
    suggest: (actionId, typed, user = person) =>
      signRequest(
        encodeInteraction({
          ...senderOf(user),
          type: 'block_suggestion',
          container: { type: 'view', view_id: 'V0BENCH00' },
          view: { id: 'V0BENCH00', team_id: 'T0BENCH00', type: 'modal', private_metadata: '', blocks: [] },
          block_id: 'zone',
          action_id: actionId,
          value: typed,
        }),
      ),
    submit(callbackId, values, user = person) {
      const state = Object.fromEntries(
        Object.entries(values).map(([field, value]) => [
          field,
          {
            [field]:
              typeof value === 'string'
                ? { type: 'plain_text_input', value }
                : { type: 'multi_users_select', selected_users: value },
          },
        ]),
      );
      const view = {
        id: `V${randomUUID()}`,
        team_id: 'T0BENCH00',
        type: 'modal',
        callback_id: callbackId,
        // The version of the settings that the form of them was opened with: none is saved yet.
        private_metadata: JSON.stringify({ metadata: '0' }),
        hash: '1.a',
        blocks: [],
        state: { values: state },
        app_installed_team_id: 'T0BENCH00',
      };
      return signRequest(
        encodeInteraction({ ...senderOf(user), type: 'view_submission', view, response_urls: [] }),
      );
    },
  };
}

/** What every interaction says about its sender. */
function senderOf(user: string, trigger: string = randomUUID()): object {
  return {
    team: { id: 'T0BENCH00', domain: 'bench' },
    user: { id: user, username: 'ann', name: 'ann', team_id: 'T0BENCH00' },
    api_app_id: 'A0BENCH00',
    token: 'bench-verification-token',
    trigger_id: trigger,
    is_enterprise_install: false,
    enterprise: null,
  };
}

function encodeInteraction(payload: object): string {
  return new URLSearchParams({ payload: JSON.stringify(payload) }).toString();
}

/** The whole HTTP request, signed as Slack signs: v0, HMAC-SHA256 over `v0:timestamp:body`. */
function signRequest(body: string): Buffer {
  const timestamp = Math.floor(Date.now() / 1000);
  const signature = createHmac('sha256', signingSecret).update(`v0:${timestamp}:${body}`).digest('hex');
  return Buffer.from(
    'POST /slack/events HTTP/1.1\r\nhost: 127.0.0.1\r\nuser-agent: Slackbot 1.0 (+https://api.slack.com/robots)\r\n' +
      'accept: */*\r\ncontent-type: application/x-www-form-urlencoded\r\n' +
      `x-slack-request-timestamp: ${timestamp}\r\nx-slack-signature: v0=${signature}\r\n` +
      `content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}
