import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import type { DeclaredCommand, DeclaredShortcut } from './shortcuts.ts';
import type { DeclaredSteps } from './steps.ts';

/** An entry of `mcp_servers`: where Slack's assistant finds the tools of an app. */
export interface ToolServer {
  readonly url: string;
  /** By it the person's ids stand in requests that are signed as all of Slack's. */
  readonly auth_type: 'slack_identity_auth';
}

/**
 * The commands, shortcuts, steps, scopes and events of manifest.yml: there are no others in Slack. `assistant`: with the lines for
 * Slack's assistant, which stand there as a comment.
 */
export function readManifest({ assistant = false } = {}): {
  commands: DeclaredCommand[];
  shortcuts: DeclaredShortcut[];
  steps: DeclaredSteps;
  scopes: readonly string[];
  events: readonly string[];
  server?: ToolServer;
} {
  const text = readFileSync(new URL('../../manifest.yml', import.meta.url), 'utf8');
  const manifest = parse(text) as {
    features: {
      slash_commands: { command: string; description: string; usage_hint: string }[];
      shortcuts: { callback_id: string; type: 'global' | 'message'; name: string; description: string }[];
    };
    oauth_config: { scopes: { bot: string[] } };
    functions: DeclaredSteps;
    settings: { event_subscriptions: { bot_events: string[] } };
  };
  const shortcuts = manifest.features.shortcuts.map(({ callback_id, type, name, description }) => ({
    callbackId: callback_id,
    kind: type,
    name,
    description,
  }));
  const commands = manifest.features.slash_commands.map(({ command, description, usage_hint }) => ({
    command,
    description,
    usageHint: usage_hint,
  }));
  return {
    commands,
    shortcuts,
    steps: manifest.functions,
    scopes: [...manifest.oauth_config.scopes.bot, ...(assistant ? ['mcp:connect'] : [])],
    events: manifest.settings.event_subscriptions.bot_events,
    ...(assistant ? { server: readToolServer(text) } : {}),
  };
}

/** @throws Error where Slack would not take the entry */
function readToolServer(manifest: string): ToolServer {
  const line = /^#\s+(mcp_servers: .*)$/mu.exec(manifest)?.[1] ?? '';
  const { mcp_servers: servers = {} } = (parse(line) ?? {}) as { mcp_servers?: Record<string, ToolServer> };
  const [server, ...more] = Object.values(servers);
  if (!server?.url.startsWith('https://') || server.url.length > 500 || more.length > 0)
    throw new Error('manifest.yml needs one MCP server, with an https url');
  // The double signs: nothing else is tried.
  if (server.auth_type !== 'slack_identity_auth') throw new Error('the MCP server needs slack_identity_auth');
  return server;
}
