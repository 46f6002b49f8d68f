import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Secret } from '../../secrets/secret.ts';

// Slack's rule for old timestamps, applied to future ones too: Bolt accepts those.
const clockSkewSeconds = 5 * 60;

type Signed = Pick<IncomingMessage, 'headers'>;

/**
 * Checks that a request is Slack's: signed with the app's secret, within five minutes.
 *
 * Source of the rules: https://docs.slack.dev/authentication/verifying-requests-from-slack
 */
export function createSignatureCheck(options: { readonly signingSecret: Secret; readonly now: () => Date }) {
  const signingSecret = options.signingSecret.reveal();
  return {
    /** Whether it has a signature, and says that it is of now. */
    isFresh({ headers }: Signed): boolean {
      const timestamp = String(headers['x-slack-request-timestamp']);
      const age = Number(timestamp) - options.now().getTime() / 1000;
      // Slack sends decimal digits; Number() alone would also take 0x65 and 1e9.
      const isDecimal = /^\d+$/u.test(timestamp);
      return headers['x-slack-signature'] !== undefined && isDecimal && Math.abs(age) <= clockSkewSeconds;
    },
    isGenuine({ headers }: Signed, body: Buffer): boolean {
      const timestamp = String(headers['x-slack-request-timestamp']);
      const digest = createHmac('sha256', signingSecret)
        .update(`v0:${timestamp}:`)
        .update(body)
        .digest('hex');
      const expected = Buffer.from(`v0=${digest}`);
      const given = Buffer.from(String(headers['x-slack-signature']));
      return given.length === expected.length && timingSafeEqual(given, expected);
    },
  };
}
