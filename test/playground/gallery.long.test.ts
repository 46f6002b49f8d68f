import { describe, expect, test } from 'vitest';
import { hasBrowser } from './browser.ts';
import { fromElsewhere, gallery } from './gallery.ts';
import { missingFrom, useGallery } from './gallery-page.ts';

describe.skipIf(!hasBrowser)('the playground page draws Block Kit', () => {
  const inGallery = useGallery();

  test.each(Object.keys(gallery))('every block of “%s” is drawn', (name) =>
    inGallery(async ({ complaints, page, post }) => {
      await post(name);
      expect(await missingFrom(page, gallery[name])).toEqual([]);
      expect(complaints).toEqual([]);
    })(),
  );

  test(
    'mrkdwn reads as in Slack: marks, links, people, dates, entities, emoji, and code left alone',
    inGallery(async ({ page, post }) => {
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
    }),
  );

  test(
    'a block that nobody knows is shown as a labelled box',
    inGallery(async ({ page, post }) => {
      await page.route('**/ui/state*', async (route) => {
        const answer = await route.fetch();
        const state = (await answer.json()) as { messages: { blocks: object[] }[] };
        state.messages[0]?.blocks.push(...fromElsewhere);
        await route.fulfill({ response: answer, json: state });
      });
      await post('words');
      expect(await page.locator('.unknown summary').textContent()).toContain('hologram');
      expect(await page.locator('[data-block="file"]').innerText()).toContain('A remote file');
    }),
  );

  test(
    'a menu is found by typing, driven by arrow keys, and its choice reaches the app',
    inGallery(async ({ app, page, post }) => {
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
    }),
  );

  test(
    'a menu with search asks the app for what was typed',
    inGallery(async ({ app, page, post }) => {
      await post('controls');
      await page.locator('[data-action="gallery:external"]').click();
      expect(await page.getByText('Type at least 1 character').isVisible()).toBe(true);
      await page.keyboard.type('shop');
      await page.getByRole('option', { name: 'shop 2' }).click();
      await expect.poll(() => app.seen.at(-1)?.['type']).toBe('block_actions');
      expect(app.seen.at(-1)).toMatchObject({ actions: [{ selected_option: { value: 'z2' } }] });
    }),
  );

  test(
    'a dangerous button asks first, and Esc means no',
    inGallery(async ({ app, page, post }) => {
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
    }),
  );

  test(
    'a data table is sorted, searched and leafed through, and a sorted column of numbers goes by value',
    inGallery(async ({ page, post }) => {
      await post('tables');
      const table = page.locator('[data-block="data_table"]');
      const numbers = () => table.locator('tbody td.number').allInnerTexts();
      expect(await numbers()).toEqual(['30', '4']);
      await table.getByRole('button', { name: 'Requests' }).click();
      expect(await numbers()).toEqual(['4', '30']);
      expect(await table.getByRole('columnheader', { name: 'Requests' }).getAttribute('aria-sort')).toBe(
        'ascending',
      );
      await table.getByRole('button', { name: 'More rows' }).click();
      expect(await numbers()).toEqual(['200']);
      expect(await table.getByRole('status').innerText()).toBe('3–3 of 3');
      await table.getByRole('button', { name: 'Requests' }).click();
      expect(await numbers()).toEqual(['200', '30']);
      await table.getByRole('button', { name: 'Search table' }).click();
      await page.keyboard.type('ROW 4');
      expect(await numbers()).toEqual(['4']);
      await page.keyboard.type('4');
      expect(await table.getByRole('status').innerText()).toBe('No rows');
      await page.keyboard.press('Escape');
      expect(await numbers()).toEqual(['200', '30']);
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        (async () => {
          await table.getByRole('button', { name: 'Table options' }).click();
          await page.getByRole('option', { name: 'Download table' }).click();
        })(),
      ]);
      expect(download.suggestedFilename()).toBe('A table to sort.csv');
    }),
  );

  test(
    'tables and charts have Slack’s sizes, and a phone scrolls them sideways by themselves',
    inGallery(async ({ page, post }) => {
      await post('charts');
      await post('tables');
      const [chart, table] = [page.locator('.chart').first(), page.locator('.data-table')];
      const heightOf = async (what: typeof chart) => Math.round((await what.boundingBox())?.height ?? 0);
      expect(await heightOf(chart)).toBe(460);
      // Caption, header, rows of 48, pages, padding and borders.
      const rows = 46 + 36 + 2 * 48 + 32 + 8;
      expect(Math.abs((await heightOf(table)) - rows)).toBeLessThan(4);
      await page.setViewportSize({ width: 390, height: 844 });
      const columns = await table
        .locator('thead th')
        .evaluateAll((cells: { offsetWidth?: number }[]) => cells.map(({ offsetWidth = 0 }) => offsetWidth));
      expect(Math.min(...columns)).toBeGreaterThanOrEqual(120);
      const hidden = `(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)`;
      expect(await page.evaluate(`${hidden}(document.querySelector('#scroll'))`)).toBe(0);
      expect(await page.evaluate(`${hidden}(document.querySelector('.chart-scroll'))`)).toBeGreaterThan(50);
      expect(
        await page.evaluate(`${hidden}(document.querySelector('.data-table .table-wrap'))`),
      ).toBeGreaterThan(100);
    }),
  );

  test(
    'a chart is read as a table from its menu',
    inGallery(async ({ page, post }) => {
      await post('charts');
      const chart = page.locator('[data-block="data_visualization"]').first();
      expect(await chart.getByRole('img').getAttribute('aria-label')).toBe('Requests a day');
      expect(await chart.locator('polyline').count()).toBe(2);
      expect(await chart.locator('text').allTextContents()).toContain('day 2');
      await chart.getByRole('button', { name: 'Chart options' }).click();
      await page.getByRole('option', { name: 'View as table' }).click();
      expect(await chart.locator('tbody tr').first().innerText()).toMatch(/day 1\s+3\s+1/u);
      expect(await chart.getByRole('img').isVisible()).toBe(false);
    }),
  );

  test(
    'the Home tab shows what the app published',
    inGallery(async ({ app, page }) => {
      await app.call('views.publish', {
        user_id: 'U0ALICE00',
        view: { type: 'home', blocks: gallery['controls']?.slice(0, 2) },
      });
      await page.getByRole('button', { name: 'Home' }).click();
      await expect
        .poll(() => page.locator('#home').getByRole('button', { name: 'Danger button' }).count())
        .toBe(1);
    }),
  );

  test(
    'pictures are shown in the message, other files as cards to download',
    inGallery(async ({ app, complaints, page, slack }) => {
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
    }),
  );

  test(
    'Slack itself says when the app does not answer, to the person who asked alone',
    inGallery(async ({ page, slack }) => {
      slack.deliverTo('http://127.0.0.1:1/nobody');
      await page.keyboard.type('/cdn help');
      await page.keyboard.press('Enter');
      const notice = page.locator('.message.notice');
      await notice.waitFor();
      expect(await notice.innerText()).toContain('/cdn failed');
      expect(await notice.innerText()).toContain('Only visible to you');
    }),
  );
});
