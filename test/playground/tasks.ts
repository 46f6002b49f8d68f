import type { Locator, Page } from 'playwright-core';

/** What a task takes: characters of commands and ids (not values and reasons, which are free), taps, and screens to read. */
export interface Effort {
  keys: number;
  taps: number;
  screens: number;
}

interface Hand {
  readonly page: Page;
  readonly effort: Effort;
  /** Writes a command and sends it. */
  send(words: string): Promise<void>;
  type(words: string): Promise<void>;
  /** Writes what is up to the person. */
  fill(words: string): Promise<void>;
  tap(target: Locator): Promise<void>;
  /** Waits until something can be read. */
  read(target: Locator): Promise<void>;
  /** Another person takes over; closes what is open, which is nobody's tap. */
  become(name: string): Promise<void>;
}

interface Task {
  readonly title: string;
  /** On the same day of the version before. */
  readonly before: Effort;
  readonly as: string;
  readonly run: (hand: Hand) => Promise<void>;
}

const answer = ({ page }: Hand): Locator => page.locator('#log .message').last();
const dialog = ({ page }: Hand): Locator => page.getByRole('dialog');
const submit = (hand: Hand): Locator => dialog(hand).locator('[data-part="submit"]');
const close = (hand: Hand): Locator => dialog(hand).locator('[data-part="close"]');

const tasks: readonly Task[] = [
  {
    title: 'Why is shop failing: cause, host, since when, since what change',
    before: { keys: 17, taps: 5, screens: 4 },
    as: 'Alice Adams',
    async run(hand) {
      await hand.send('/cdn errors shop');
      await hand.read(
        answer(hand)
          .getByText(/cannot resolve .* since (?:\d+ \w+ )?\d\d:\d\d.*→/su)
          .first(),
      );
    },
  },
  {
    title: 'Flip a variable and back',
    before: { keys: 20, taps: 5, screens: 3 },
    as: 'Bob Brown',
    async run(hand) {
      await hand.send('/cdn FEATURE_X');
      await hand.read(dialog(hand).getByText('New value'));
      await hand.fill('off');
      await hand.tap(submit(hand));
      const undo = dialog(hand).getByRole('button', { name: /^Undo/u });
      await hand.read(undo);
      await hand.tap(undo);
      await hand.read(dialog(hand).getByText('Restored the previous value'));
      await undo.waitFor({ state: 'detached' });
    },
  },
  {
    title: 'Delete a volume by two people',
    before: { keys: 53, taps: 5, screens: 4 },
    as: 'Bob Brown',
    async run(hand) {
      await hand.send('/cdn delete app0worker00002 old-cache');
      await hand.read(dialog(hand).getByText('Cannot be undone'));
      await hand.type('old-cache');
      await hand.tap(dialog(hand).getByRole('textbox', { name: 'Why?' }));
      await hand.fill('Its node is gone');
      await hand.tap(submit(hand));
      await hand.read(close(hand));
      await hand.become('Carol Clark');
      await hand.page.getByRole('button', { name: 'Menu' }).click();
      await hand.page.getByRole('button', { name: 'deploys' }).click();
      const approve = answer(hand).getByRole('button', { name: 'Approve' });
      await hand.read(approve);
      await hand.tap(approve);
      await hand.tap(hand.page.getByRole('alertdialog').getByRole('button', { name: 'Approve' }));
      await approve.waitFor({ state: 'detached' });
      await hand.read(answer(hand));
    },
  },
  {
    title: '24 hours of events to a channel',
    before: { keys: 19, taps: 4, screens: 2 },
    as: 'Bob Brown',
    async run(hand) {
      await hand.send('/cdn export 501 24h');
      await hand.read(submit(hand));
      await hand.tap(dialog(hand).getByRole('combobox', { name: 'Channel' }));
      await hand.tap(hand.page.getByRole('option', { name: 'ops' }));
      await hand.tap(submit(hand));
      await hand.read(hand.page.locator('#log .file-card').last());
    },
  },
  {
    title: 'A digest at nine and an alert',
    before: { keys: 29, taps: 9, screens: 4 },
    as: 'Bob Brown',
    async run(hand) {
      for (const words of ['/cdn digest new', '/cdn alert new']) {
        await hand.send(words);
        await hand.read(submit(hand));
        await hand.tap(submit(hand));
        await hand.read(
          dialog(hand)
            .getByText(/^(?:Digest|Alert) \w{5}/u)
            .first(),
        );
        await hand.tap(close(hand));
        await dialog(hand).waitFor({ state: 'detached' });
      }
    },
  },
];

/** Does the tasks one after another as wide as a phone, in a playground with its story. */
export async function measureTasks(page: Page): Promise<{ readonly task: Task; readonly effort: Effort }[]> {
  const measured = [];
  await page.setViewportSize({ width: 390, height: 844 });
  for (const task of tasks) {
    const hand = createHand(page);
    await hand.become(task.as);
    await task.run(hand).catch((error: unknown) => {
      throw new Error(`“${task.title}” does not work`, { cause: error });
    });
    measured.push({ task, effort: hand.effort });
  }
  return measured;
}

function createHand(page: Page): Hand {
  const effort: Effort = { keys: 0, taps: 0, screens: 0 };
  const composer = page.locator('.composer-field').first();
  return {
    page,
    effort,
    async send(words) {
      await composer.click();
      await composer.pressSequentially(words);
      effort.keys += words.length;
      await page.keyboard.press('Enter');
    },
    async type(words) {
      await page.keyboard.type(words);
      effort.keys += words.length;
    },
    fill: (words) => page.keyboard.type(words),
    async tap(target) {
      await target.click();
      effort.taps += 1;
    },
    async read(target) {
      await target.waitFor();
      effort.screens += 1;
    },
    async become(name) {
      for (let open = 0; open < 4 && (await page.getByRole('dialog').count()) > 0; open += 1) {
        await page.locator('[data-part="close"]').click();
        await page.waitForTimeout(300);
      }
      await page.getByRole('button', { name: 'Menu' }).click();
      await page.getByRole('button', { name: /Change person/u }).click();
      await page.getByRole('option', { name }).click();
      await page.getByText(`as ${name}`).waitFor();
      await page.getByRole('button', { name: 'Menu' }).click();
      await page.getByRole('button', { name: 'ops' }).click();
      await page.getByRole('heading', { name: '#ops' }).waitFor();
    },
  };
}

/** The table of docs/answers.md. */
export function describeEfforts(measured: Awaited<ReturnType<typeof measureTasks>>): string {
  return [
    '| task | before | now |',
    '|---|---|---|',
    ...measured.map(
      ({ task, effort }) => `| ${task.title} | ${describeEffort(task.before)} | ${describeEffort(effort)} |`,
    ),
  ].join('\n');
}

function describeEffort({ keys, taps, screens }: Effort): string {
  return `${keys} + ${taps}, ${screens}`;
}
