import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import type { DeclaredShortcut } from './shortcuts.ts';
import type { DeclaredSteps } from './steps.ts';

/** The shortcuts, steps, scopes and events of manifest.yml: there are no others in Slack. */
export function readManifest(): {
  shortcuts: DeclaredShortcut[];
  steps: DeclaredSteps;
  scopes: readonly string[];
  events: readonly string[];
} {
  const manifest = parse(readFileSync(new URL('../../manifest.yml', import.meta.url), 'utf8')) as {
    features: {
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
  return {
    shortcuts,
    steps: manifest.functions,
    scopes: manifest.oauth_config.scopes.bot,
    events: manifest.settings.event_subscriptions.bot_events,
  };
}
