import type { VisibleMessage } from '../../../simulator/slack/messages.ts';
import type { VisibleView } from '../../../simulator/slack/views.ts';
import { type Bot, type BotOptions, connect, startBot } from '../../support/bot.ts';
import { configure } from '../../support/settings.ts';

type Person = ReturnType<Bot['slack']['as']>;
type Slack = Bot['slack'];

export const users = { alice: 'U0ALICE00', bob: 'U0BOB0000', carol: 'U0CAROL00', dave: 'U0DAVE000' } as const;
export const channels = { ops: 'C0OPS0000', deploys: 'C0DEPLOY0', random: 'C0RANDOM0' } as const;
const { alice, bob } = users;
const { ops } = channels;

/** A bot where Alice (an admin) and Bob have connected a key and may export. */
export async function startExportBot(options: BotOptions = {}): Promise<Bot> {
  const bot = await startBot({ zones: 5, ...options });
  await connect(bot, alice, ops);
  await connect(bot, bob, ops);
  await saveSettings(bot.slack, { operators: [alice, bob] });
  return bot;
}

/** What Alice fills into the settings. */
export const saveSettings = (slack: Slack, values: Record<string, unknown>): Promise<void> =>
  configure(slack.as(alice, ops), values);

/** Opens the form with what was typed. */
export async function openForm(person: Person, words = 'export 501 last 6h'): Promise<void> {
  while (person.modal()) await person.closeModal();
  await person.slash(words);
  await person.waitForModal('event-logs:submit');
}

/** Sends the form and closes what it ends with, which it gives: `event-logs:started`, the form again, or a failure. */
export async function submitForm(person: Person, values: Record<string, unknown> = {}): Promise<VisibleView> {
  const sent = person.modal()?.hash;
  const submitted = await person.submit(values);
  if (submitted.errors) throw new Error(`the form has errors: ${JSON.stringify(submitted.errors)}`);
  const ended = await person.waitForModal(
    ({ callback_id: id, hash }) => hash !== sent && id !== 'event-logs:busy',
  );
  while (person.modal()) await person.closeModal();
  return ended;
}

/** Sends the form of a failed export unchanged. */
export async function exportAgain(person: Person, { ts }: Pick<VisibleMessage, 'ts'>): Promise<void> {
  await person.press('event-logs:change:0', { ts });
  await person.waitForModal('event-logs:submit');
  await submitForm(person);
}

/** Messages with files in a place. */
export function findFileMessages(slack: Slack, channel: string, who: string = alice): VisibleMessage[] {
  return slack
    .as(who, channel)
    .messages()
    .filter(({ files }) => files.length > 0);
}

/** Waits for an end of an export that a message tells. */
export async function waitForEnd(
  slack: Slack,
  channel: string,
  words: RegExp,
  { who = alice, timeoutMs = 15_000 }: { who?: string; timeoutMs?: number } = {},
): Promise<VisibleMessage> {
  return slack
    .as(who, channel)
    .waitForMessage(({ reads, ephemeral }) => !ephemeral && words.test(reads), timeoutMs);
}

/** The bytes of a file that was shared. */
export async function download(slack: Slack, url: string): Promise<Buffer> {
  return Buffer.from(await (await fetch(slack.url + url)).arrayBuffer());
}
