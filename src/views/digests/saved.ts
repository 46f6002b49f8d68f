import type { KnownBlock, ModalView } from '@slack/types';
import type { Digest, DigestOrder } from '../../digests/model.ts';
import { actions, button, context, message, plain, section } from '../blocks/blocks.ts';
import { replaceCharts } from '../blocks/chart.ts';
import type { FormResult, Message } from '../blocks/message.ts';
import { formatCode } from '../blocks/text.ts';
import type { RenderedDigest } from './post.ts';
import { describeNextRuns } from './schedule.ts';
import { describeOrder } from './words.ts';

const mostBlocks = 100;
// https://docs.slack.dev/reference/block-kit/blocks: these work in messages only.
const messagesOnly = new Set([
  'markdown',
  'table',
  'data_table',
  'context_actions',
  'task_card',
  'plan',
  'file',
]);

export function renderSaved(digest: Digest, runs: readonly Date[]): FormResult {
  const text = digest.paused
    ? `Saved: the digest ${digest.id} stays paused.`
    : `Saved: ${describeOrder(digest)}.`;
  const blocks: KnownBlock[] = [
    section(`:white_check_mark: ${text}`),
    ...(digest.paused ? [] : [section(describeNextRuns(runs, digest.schedule.zone))]),
    actions(button('Run now', 'digests:run', digest.id)),
    context(`Digest ${formatCode(digest.id)} · it runs with your key · \`/cdn digest list\` shows all`),
  ];
  const modal: ModalView = {
    type: 'modal',
    callback_id: 'digests:done',
    title: plain('Digest'),
    close: plain('Done'),
    blocks,
  };
  return { modal, message: message(text, blocks) };
}

/** For the channel of a new or moved digest. */
export function renderAnnouncement(digest: Digest, by: string): Message {
  const text = `<@${by}> sends a digest here: ${describeOrder(digest)}.`;
  return message(text, [
    section(text),
    context(`Digest ${formatCode(digest.id)} · it shows what <@${by}>’s key can read`),
  ]);
}

export function renderInvite(channel: string): string {
  return `The bot cannot write to <#${channel}>, so nothing was saved. Invite it there (\`/invite @cdn\`), then save again.`;
}

export function renderNotSaved(says: string): Message {
  return message(says, [section(`:warning: ${says}`)]);
}

/** What the channel would see, then its thread. */
export function renderPreviewed(rendered: RenderedDigest, order: DigestOrder): ModalView {
  const { top, thread, quiet } = rendered;
  const files = [top, ...thread].flatMap((shown) => shown.files ?? []).length;
  const blocks: KnownBlock[] = [
    ...(quiet
      ? [section(':zipper_mouth_face: *It would stay silent now:* its threshold is not reached.')]
      : []),
    ...blocksOf(top),
    ...(thread.length > 0 ? [{ type: 'divider' } as const, context('*In its thread*')] : []),
    ...thread.flatMap(blocksOf),
  ].filter(({ type }) => !messagesOnly.has(type));
  const footer = [
    ...(files > 0 ? [`${files === 1 ? 'A chart goes' : `${files} charts go`} into the thread too.`] : []),
    `Only you see this. ${describeOrder(order)}.`,
  ];
  return renderPreview([...withoutBlockIds(blocks).slice(0, mostBlocks - 1), context(footer.join(' '))]);
}

export function renderNotYet(problems: readonly string[]): ModalView {
  return renderPreview([
    section(`:warning: *Not yet*\n${problems.map((line) => `• ${line}`).join('\n')}`),
    context('Go back and fix that.'),
  ]);
}

function renderPreview(blocks: KnownBlock[]): ModalView {
  return {
    type: 'modal',
    callback_id: 'digests:previewed',
    title: plain('Preview'),
    close: plain('Back'),
    blocks,
  };
}

function blocksOf({ text, blocks }: Message): KnownBlock[] {
  return blocks ? replaceCharts(blocks) : [section(text)];
}

/** Several messages in one view may have the same block ids. */
function withoutBlockIds(blocks: readonly KnownBlock[]): KnownBlock[] {
  return blocks.map((block) => {
    const { block_id: id, ...shown } = block;
    return id === undefined ? block : shown;
  });
}
