import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll } from 'vitest';
import { type SlackSimulator, startSlack } from '../../simulator/slack/server.ts';
import { launch, openPage } from './browser.ts';
import { gallery } from './gallery.ts';
import { type GalleryApp, startGalleryApp } from './gallery-app.ts';

interface GalleryPage {
  slack: SlackSimulator;
  app: GalleryApp;
  page: Page;
  complaints: string[];
  /** Posts a part of the gallery to where the page looks. */
  post: (name: string) => Promise<void>;
  /** Opens the gallery's form by typing a command. */
  openForm: () => Promise<void>;
}

/**
 * Starts a browser for the tests around it; what it returns wraps a test into a Slack of its own, the gallery's app
 * behind it, and the playground's page before it.
 */
export function useGallery(): (run: (gallery: GalleryPage) => Promise<void>) => () => Promise<void> {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launch();
  });
  afterAll(() => browser?.close());
  return (run) => async () => {
    const slack = await startSlack({ page: join(import.meta.dirname, '../../simulator/page') });
    const app = await startGalleryApp(slack);
    const complaints: string[] = [];
    const page = await openPage(browser, slack.url, complaints);
    try {
      await run({ slack, app, page, complaints, ...shortcuts(app, page) });
    } finally {
      await page.context().close();
      await app.close();
      await slack.close();
    }
  };
}

function shortcuts(app: GalleryApp, page: Page): Pick<GalleryPage, 'post' | 'openForm'> {
  return {
    async post(name) {
      const message = { channel: 'C0OPS0000', text: `gallery of ${name}`, blocks: gallery[name] };
      await app.call('chat.postMessage', message);
      await page.locator('.message').first().waitFor();
    },
    async openForm() {
      await page.keyboard.type('/cdn form');
      await page.keyboard.press('Enter');
      await page.getByRole('dialog', { name: 'Every input' }).waitFor();
    },
  };
}

/** The types of blocks and elements that the page does not draw, and the boxes it draws instead. */
export async function missingFrom(page: Page, blocks: unknown): Promise<string[]> {
  const missing = await page.locator('.unknown').allTextContents();
  for (const kind of ['block', 'element'] as const) {
    for (const type of typesIn(blocks, kind)) {
      if ((await page.locator(`[data-${kind}="${type}"]`).count()) === 0) missing.push(`${kind} ${type}`);
    }
  }
  return missing;
}

/** The types of all blocks, or of all elements, in a list of blocks. */
function typesIn(value: unknown, member: 'block' | 'element'): string[] {
  const found = new Set<string>();
  const visit = (part: unknown, inside: string): void => {
    if (Array.isArray(part)) for (const one of part) visit(one, inside);
    else if (typeof part === 'object' && part !== null) {
      const { type } = part as { type?: unknown };
      const isElement = 'action_id' in part;
      if (typeof type === 'string' && (member === 'element' ? isElement : inside === 'blocks'))
        found.add(type);
      for (const [name, child] of Object.entries(part)) {
        const holdsBlocks = ['child_blocks', 'tasks'].includes(name) || type === 'carousel';
        visit(child, holdsBlocks ? 'blocks' : name);
      }
    }
  };
  visit(value, 'blocks');
  return [...found];
}
