import type { Button } from '@slack/types';
import { button } from './buttons.ts';
import type { Maybe } from './text.ts';

/** Addresses of the CDN's own panel with `{id}` in them; undefined where it has no page for the thing. */
export type PanelPages = Readonly<Record<'zone' | 'app' | 'script' | 'storage', string | undefined>>;

/** Opens the panel's page in the browser. Nothing if there is none. */
export function panelButton(
  pages: PanelPages,
  kind: keyof PanelPages,
  id: string,
  label = 'Open in the panel',
): Maybe<Button> {
  const page = pages[kind];
  // Slack's limit for the address of a button is 3,000 characters.
  const url = page?.replaceAll('{id}', encodeURIComponent(id));
  return url && url.length <= 3000 && { ...button(label, `panel:link:${kind}`, id), url };
}
