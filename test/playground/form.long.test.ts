import { describe, expect, test } from 'vitest';
import { hasBrowser } from './browser.ts';
import { galleryForm } from './gallery.ts';
import { missingFrom, useGallery } from './gallery-page.ts';

describe.skipIf(!hasBrowser)('forms in the playground page', () => {
  const inGallery = useGallery();

  test(
    'every input of a form is drawn, and an empty required one is refused without asking the app',
    inGallery(async ({ app, complaints, openForm, page }) => {
      await openForm();
      expect(await missingFrom(page, galleryForm.blocks)).toEqual([]);
      await page.keyboard.press('Enter');
      expect(await page.locator('[data-error-for="text"]').innerText()).toContain(
        'complete this required field',
      );
      expect(app.seen).toEqual([]);
      expect(complaints).toEqual([]);
    }),
  );

  test(
    'the error of the app stands under its field, what was typed stays, and typing answers it',
    inGallery(async ({ openForm, page }) => {
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
    }),
  );

  test(
    'everything that was filled in reaches the app when the form is sent',
    inGallery(async ({ app, openForm, page }) => {
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
    }),
  );

  test(
    'an update of the form from outside takes neither the text nor the cursor away',
    inGallery(async ({ app, openForm, page }) => {
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
    }),
  );

  test(
    'Tab stays inside a form, and Esc closes it and gives the focus back',
    inGallery(async ({ openForm, page }) => {
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
    }),
  );
});
