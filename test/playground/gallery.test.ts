import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type SlackSimulator, startSlack } from '../../simulator/slack/server.ts';
import { hasBrowser, launch, openPage } from './browser.ts';
import { fromElsewhere, gallery, galleryForm } from './gallery.ts';
import { type GalleryApp, startGalleryApp } from './gallery-app.ts';

const pageDir = join(import.meta.dirname, '../../simulator/page');

describe.skipIf(!hasBrowser)('the playground page draws Block Kit', () => {
  let browser: Browser;
  let slack: SlackSimulator;
  let app: GalleryApp;
  let page: Page;
  let complaints: string[];

  beforeAll(async () => {
    browser = await launch();
  });
  afterAll(() => browser?.close());
  beforeEach(async () => {
    slack = await startSlack({ page: pageDir });
    app = await startGalleryApp(slack);
    complaints = [];
    page = await openPage(browser, slack.url, complaints);
  });
  afterEach(async () => {
    await page.context().close();
    await app.close();
    await slack.close();
  });

  const post = async (name: string): Promise<void> => {
    await app.call('chat.postMessage', {
      channel: 'C0OPS0000',
      text: `gallery of ${name}`,
      blocks: gallery[name],
    });
    await page.locator('.message').first().waitFor();
  };
  const openForm = async (): Promise<void> => {
    await page.keyboard.type('/cdn form');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'Every input' }).waitFor();
  };
  const expectDrawn = async (blocks: unknown): Promise<void> => {
    for (const type of typesIn(blocks, 'block')) {
      expect(await page.locator(`[data-block="${type}"]`).count(), `block ${type}`).toBeGreaterThan(0);
    }
    for (const type of typesIn(blocks, 'element')) {
      expect(await page.locator(`[data-element="${type}"]`).count(), `element ${type}`).toBeGreaterThan(0);
    }
    expect(await page.locator('.unknown').allTextContents()).toEqual([]);
  };

  test.each(Object.keys(gallery))('every block of “%s” is drawn', async (name) => {
    await post(name);
    await expectDrawn(gallery[name]);
    expect(complaints).toEqual([]);
  });

  test('mrkdwn reads as in Slack: marks, links, people, dates, entities, emoji, and code left alone', async () => {
    await post('words');
    const text = page.locator('[data-block="section"]').first();
    expect(await text.locator('strong').allTextContents()).toEqual(['bold', 'both']);
    expect(await text.locator('em').allTextContents()).toEqual(['italic', 'both']);
    expect(await text.locator('s').textContent()).toBe('struck');
    expect(await text.locator('blockquote a').getAttribute('href')).toBe('https://example.com');
    expect(await text.locator('li').allTextContents()).toEqual(['first point', 'second point']);
    expect(await text.innerText()).toContain('snake_case_name stays');
    expect(await text.innerText()).toContain(
      'Hello @Alice Adams, see #ops at 21 Nov 2025 11:20: 1 < 2 && 3 > 2 ✅ :no-such-emoji:',
    );
    expect(await text.locator('pre').textContent()).toBe('const a = "<b>not bold</b>";');
  });

  test('a block that nobody knows is shown as a labelled box', async () => {
    await page.route('**/ui/state*', async (route) => {
      const answer = await route.fetch();
      const state = (await answer.json()) as { messages: { blocks: object[] }[] };
      state.messages[0]?.blocks.push(...fromElsewhere);
      await route.fulfill({ response: answer, json: state });
    });
    await post('words');
    expect(await page.locator('.unknown summary').textContent()).toContain('hologram');
    expect(await page.locator('[data-block="file"]').innerText()).toContain('A remote file');
  });

  test('a menu is found by typing, driven by arrow keys, and its choice reaches the app', async () => {
    await post('controls');
    await page.locator('[data-action="gallery:static"]').focus();
    await page.keyboard.press('ArrowDown');
    const options = page.getByRole('option');
    expect(await options.count()).toBe(4);
    expect(await page.getByRole('group', { name: 'Asia' }).getByRole('option').allInnerTexts()).toEqual([
      'Singapore',
      'Tokyo',
    ]);
    await page.keyboard.type('o');
    await expect.poll(() => options.count()).toBe(3);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await expect.poll(() => page.locator('[data-action="gallery:static"]').innerText()).toContain('Tokyo');
    await expect.poll(() => app.seen.length).toBe(1);
    expect(app.seen[0]).toMatchObject({
      actions: [{ action_id: 'gallery:static', selected_option: { value: 'jp' } }],
    });
  });

  test('a menu with search asks the app for what was typed', async () => {
    await post('controls');
    await page.locator('[data-action="gallery:external"]').click();
    expect(await page.getByText('Type at least 1 character').isVisible()).toBe(true);
    await page.keyboard.type('shop');
    await page.getByRole('option', { name: 'shop 2' }).click();
    await expect.poll(() => app.seen.at(-1)?.['type']).toBe('block_actions');
    expect(app.seen.at(-1)).toMatchObject({ actions: [{ selected_option: { value: 'z2' } }] });
  });

  test('a dangerous button asks first, and Esc means no', async () => {
    await post('controls');
    const danger = page.getByRole('button', { name: 'Danger button' });
    await danger.click();
    const question = page.getByRole('alertdialog', { name: 'Really?' });
    expect(await question.innerText()).toContain('This cannot be undone.');
    await page.keyboard.press('Escape');
    await question.waitFor({ state: 'detached' });
    expect(app.seen).toEqual([]);
    await danger.click();
    await question.getByRole('button', { name: 'Do it' }).click();
    await expect.poll(() => app.seen.length).toBe(1);
  });

  test('a data table is sorted by a click on its head and leafed through', async () => {
    await post('tables');
    const table = page.locator('[data-block="data_table"]');
    const numbers = () => table.locator('tbody td').allInnerTexts();
    expect(await numbers()).toEqual(['30', '4']);
    await table.getByRole('button', { name: 'Requests' }).click();
    expect(await numbers()).toEqual(['4', '30']);
    await table.getByRole('button', { name: 'More rows' }).click();
    expect(await numbers()).toEqual(['200']);
  });

  test('every input of a form is drawn, and an empty required one is refused without asking the app', async () => {
    await openForm();
    await expectDrawn(galleryForm.blocks);
    await page.keyboard.press('Enter');
    expect(await page.locator('[data-error-for="text"]').innerText()).toContain(
      'complete this required field',
    );
    expect(app.seen).toEqual([]);
    expect(complaints).toEqual([]);
  });

  test('the error of the app stands under its field, what was typed stays, and typing answers it', async () => {
    await openForm();
    await page.keyboard.type('wrong');
    await page.keyboard.press('Enter');
    const field = page.getByRole('textbox', { name: 'One line' });
    await expect
      .poll(() => page.locator('[data-error-for="text"]').innerText())
      .toContain('That is the wrong text.');
    expect(await field.inputValue()).toBe('wrong');
    expect(await field.getAttribute('aria-invalid')).toBe('true');
    await field.pressSequentially('er');
    expect(await page.locator('[data-error-for="text"]').textContent()).toBe('');
  });

  test('everything that was filled in reaches the app when the form is sent', async () => {
    await openForm();
    await page.getByRole('textbox', { name: 'One line' }).fill('right');
    await page.getByRole('textbox', { name: 'Number' }).fill('7');
    await page.locator('[data-action="region"]').click();
    await page.getByRole('option', { name: 'London' }).click();
    await page.locator('[data-block="input"] [data-element="multi_users_select"] .select').click();
    await page.getByRole('option', { name: /Bob/ }).click();
    await page.getByRole('option', { name: /Carol/ }).click();
    await page.keyboard.press('Escape');
    await page.locator('[data-action="day"]').fill('2026-11-20');
    await page.getByRole('checkbox', { name: 'Tick me' }).check();
    await page.getByRole('radio', { name: 'Or me' }).check();
    await page.getByRole('button', { name: 'Send' }).last().click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(app.seen.at(-1)).toMatchObject({
      type: 'view_submission',
      view: {
        state: {
          values: {
            text: { text: { value: 'right' } },
            number: { number: { value: '7' } },
            region: { region: { selected_option: { value: 'uk' } } },
            people: { people: { selected_users: ['U0BOB0000', 'U0CAROL00'] } },
            day: { day: { selected_date: '2026-11-20' } },
            boxes: { boxes: { selected_options: [{ value: '1' }] } },
            radio: { radio: { selected_option: { value: '2' } } },
          },
        },
      },
    });
  });

  test('an update of the form from outside takes neither the text nor the cursor away', async () => {
    await openForm();
    await page.keyboard.type('half a sen');
    await page.keyboard.press('ArrowLeft');
    const [alert, ...inputs] = galleryForm.blocks;
    const changed = { ...alert, text: { type: 'mrkdwn', text: 'Changed meanwhile' } };
    const text = { ...inputs[0], hint: { type: 'plain_text', text: 'Another hint' } };
    await app.call('views.update', {
      view_id: app.viewId(),
      view: { ...galleryForm, blocks: [changed, text, ...inputs.slice(1)] },
    });
    await page.getByText('Changed meanwhile').waitFor();
    await page.getByText('Another hint').waitFor();
    await page.keyboard.type('te');
    expect(await page.getByRole('textbox', { name: 'One line' }).inputValue()).toBe('half a seten');
  });

  test('Tab stays inside a form, and Esc closes it and gives the focus back', async () => {
    await openForm();
    await page.getByRole('button', { name: 'Send' }).last().focus();
    await page.keyboard.press('Tab');
    const inside = () => page.locator('[role=dialog] :focus').count();
    expect(await inside()).toBe(1);
    await page.keyboard.press('Shift+Tab');
    expect(await inside()).toBe(1);
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await expect.poll(() => page.locator('.composer-field:focus').count()).toBe(1);
  });

  test('the Home tab shows what the app published', async () => {
    await app.call('views.publish', {
      user_id: 'U0ALICE00',
      view: { type: 'home', blocks: gallery['controls']?.slice(0, 2) },
    });
    await page.getByRole('button', { name: 'Home' }).click();
    await expect
      .poll(() => page.locator('#home').getByRole('button', { name: 'Danger button' }).count())
      .toBe(1);
  });

  test('pictures are shown in the message, other files as cards to download', async () => {
    let picture = '';
    for (const [name, bytes] of [
      ['events.csv', 'a,b\n1,2\n'],
      [
        'chart.svg',
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><rect width="9" height="9"/></svg>',
      ],
    ] as const) {
      const form = new URLSearchParams({ filename: name, length: String(bytes.length) });
      const place = await fetch(`${slack.url}/api/files.getUploadURLExternal`, {
        method: 'POST',
        headers: { authorization: `Bearer ${slack.botToken}` },
        body: form,
      });
      const { upload_url: url, file_id: id } = (await place.json()) as {
        upload_url: string;
        file_id: string;
      };
      await fetch(url, { method: 'POST', body: bytes });
      if (name === 'chart.svg') picture = id;
      await app.call('files.completeUploadExternal', {
        files: [{ id, title: `Title of ${name}` }],
        channel_id: 'C0OPS0000',
      });
    }
    const card = page.locator('.file-card');
    await card.waitFor();
    expect(await card.innerText()).toContain('Title of events.csv');
    expect(await card.innerText()).toContain('8 bytes');
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      card.getByRole('link', { name: 'Download' }).click(),
    ]);
    expect(download.suggestedFilename()).toBe('events.csv');
    expect(
      await page
        .locator('figure.file img')
        .evaluate((image: { naturalWidth?: number }) => image.naturalWidth),
    ).toBeGreaterThan(0);
    await app.call('chat.postMessage', {
      channel: 'C0OPS0000',
      text: 'a chart',
      blocks: [{ type: 'image', slack_file: { id: picture }, alt_text: 'a chart of its own' }],
    });
    await page.getByRole('img', { name: 'a chart of its own' }).waitFor();
    expect(complaints).toEqual([]);
  });
});

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
