import { type Log, makeReference } from '../../telemetry/log.ts';
import { context } from '../../views/blocks/blocks.ts';
import type { Message } from '../../views/blocks/message.ts';
import { truncate } from '../../views/blocks/text.ts';
import type { Responder } from './responder.ts';
import { UploadError } from './upload-bytes.ts';
import { discardFiles, type Uploads } from './uploads.ts';

/**
 * A responder that also sends the files of an answer: the text first, since no one should wait for a picture, then
 * the files into the person's direct messages, the only place in Slack where a file is private. A failing upload
 * never loses the answer: it adds why, with a reference.
 */
export function withFiles(
  responder: Responder,
  options: { readonly uploads: Uploads; readonly userId: string; readonly log: Log },
): Responder {
  const { uploads, userId, log } = options;

  const attach = async (message: Message): Promise<void> => {
    const { files = [] } = message;
    if (files.length === 0) return;
    try {
      await uploads.share(files, await uploads.directMessages(userId), truncate(message.text, 3000));
    } catch (error) {
      const reference = makeReference();
      log.error({ reference, error, files: files.length }, 'the files of an answer could not be sent');
      const reason = error instanceof UploadError ? error.message : 'The file could not be made or sent.';
      const note = `:warning: ${reason} Reference ${reference}`;
      // Where the answer cannot be replaced, it stays, and the note comes below it.
      const whole = noted(message, note);
      await responder.send(responder.replaces() ? whole : { text: note, blocks: [context(note)] });
    } finally {
      await discardFiles(files);
    }
  };

  return {
    replaces: () => responder.replaces(),
    showProgress: () => responder.showProgress(),
    async sendBeside(message) {
      await orDiscard(message, responder.sendBeside(announced(message)));
      await attach(message);
    },
    async send(message) {
      await orDiscard(message, responder.send(announced(message)));
      await attach(message);
    },
    async sendUnlessLastUse(message) {
      const sent = await orDiscard(message, responder.sendUnlessLastUse(announced(message)));
      if (sent) await attach(message);
      return sent;
    },
  };
}

/** Files of an answer that could not be given would lie in the spool for ever. */
async function orDiscard<Sent>(message: Message, sending: Promise<Sent>): Promise<Sent> {
  try {
    return await sending;
  } catch (error) {
    await discardFiles(message.files ?? []);
    throw error;
  }
}

function announced(message: Message): Message {
  const { files = [] } = message;
  if (files.length === 0) return message;
  const what = files.every(({ mimetype }) => mimetype.startsWith('image/')) ? 'chart' : 'file';
  const note = files.length === 1 ? `The ${what} comes` : `${files.length} ${what}s come`;
  return noted(message, `:arrow_down: ${note} to you as a direct message from this app.`);
}

/** Slack takes fifty blocks in a message; a note never costs the answer. */
function noted(message: Message, note: string): Message {
  const blocks = message.blocks ?? [];
  return blocks.length === 0 || blocks.length >= 50
    ? message
    : { text: message.text, blocks: [...blocks, context(note)] };
}
