/** Every planted secret contains this word: nothing that holds it may reach Slack, a log, an error or a disk. */
export const canaryMark = 'CANARY';

/**
 * A secret that is easy to find again: `CANARY-zone-security-key-1001`.
 * Only letters, digits and hyphens, so it stays recognisable in URLs, headers and base64url members.
 */
export const canary = (kind: string, owner: string | number): string => `${canaryMark}-${kind}-${owner}`;
