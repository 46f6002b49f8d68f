/** `seconds`: since the delivery arrived. `sentAt`: Slack's own time of it, in ms since the epoch, where it has one. */
export type OnAcknowledged = (
  transport: 'http' | 'socket',
  seconds: number,
  sentAt: number | undefined,
) => void;

/** Starts the clock of a delivery; the returned function reports the first acknowledgement, after it was sent. */
export function watchAcknowledgement(
  onAcknowledged: OnAcknowledged | undefined,
  transport: 'http' | 'socket',
): (sentAt: number | undefined) => void {
  const started = performance.now();
  let isReported = false;
  return (sentAt) => {
    if (isReported) return;
    isReported = true;
    onAcknowledged?.(transport, (performance.now() - started) / 1000, sentAt);
  };
}

/** Slack's own time of a delivery over a socket, in ms since the epoch. A slash command has none there. */
export function readSentAt({ actions, action_ts: at, event_time: since }: Record<string, unknown>) {
  const [action]: unknown[] = Array.isArray(actions) ? actions : [];
  const pressed = (action as { readonly action_ts?: unknown } | undefined)?.action_ts;
  const seconds = Number(pressed ?? at ?? since);
  return Number.isNaN(seconds) ? undefined : seconds * 1000;
}
