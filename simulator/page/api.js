// The playground server's browser API: what a person sees, and what they do.

async function ask(path, options) {
  const response = await fetch(path, options);
  const text = await response.text();
  const answer = text ? JSON.parse(text) : {};
  if (!response.ok) throw new Error(answer.error ?? `The playground server answered ${response.status}.`);
  return answer;
}

export const getWorld = () => ask('/ui/world');

export const getState = (user, channel) => ask(`/ui/state?${new URLSearchParams({ user, channel })}`);

/** Does something as a person: 'slash', 'say', 'shortcut', 'step', 'press', 'choose', 'submit', 'close-modal', 'suggest', 'home' or 'words-only'. */
export const act = (deed, body) =>
  ask(`/ui/${deed}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

/** Calls `changed` whenever something may look different, and `connected(true|false)` as the line comes and goes. */
export function watch(changed, connected) {
  const source = new EventSource('/ui/changes');
  source.addEventListener('message', changed);
  source.addEventListener('open', () => {
    connected(true);
    changed();
  });
  source.addEventListener('error', () => connected(false));
}
