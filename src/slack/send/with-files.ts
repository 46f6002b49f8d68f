import { type Log, makeReference } from '../../telemetry/log.ts';
import { context } from '../../views/blocks/blocks.ts';
import type { Message } from '../../views/blocks/message.ts';
import { truncate } from '../../views/blocks/text.ts';
import type { Responder } from './responder.ts';
import { UploadError } from './upload-bytes.ts';
import { discardFiles, type Uploads } from './uploads.ts';

/**
 * A responder that also sends the files of an answer: first the text, then the files to the person's direct messages,
 * the only place in Slack where a file is private. A failed upload adds a note with a reference to the answer.
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
      log.error({ reference, error, files: files.length }, 'cannot send the files of an answer');
      const reason = error instanceof UploadError ? error.message : 'The file could not be made or sent.';
      const note = `:warning: ${reason} Reference ${reference}`;
      // If the answer cannot be replaced, the note is a message below it.
      const withNote = addNote(message, note);
      await responder.send(responder.replaces() ? withNote : { text: note, blocks: [context(note)] });
    } finally {
      await discardFiles(files);
    }
  };

  return {
    replaces: () => responder.replaces(),
    showProgress: () => responder.showProgress(),
    async sendBeside(message) {
      await discardOnFailure(message, responder.sendBeside(announceFiles(message)));
      await attach(message);
    },
    async send(message) {
      await discardOnFailure(message, responder.send(announceFiles(message)));
      await attach(message);
    },
    async sendUnlessLastUse(message) {
      const sent = await discardOnFailure(message, responder.sendUnlessLastUse(announceFiles(message)));
      if (sent) await attach(message);
      return sent;
    },
  };
}

/** Deletes the temporary files of an answer that could not be sent. */
async function discardOnFailure<Sent>(message: Message, sending: Promise<Sent>): Promise<Sent> {
  try {
    return await sending;
  } catch (error) {
    await discardFiles(message.files ?? []);
    throw error;
  }
}

function announceFiles(message: Message): Message {
  const { files = [] } = message;
  if (files.length === 0) return message;
  const what = files.every(({ mimetype }) => mimetype.startsWith('image/')) ? 'chart' : 'file';
  const note = files.length === 1 ? `The ${what} comes` : `${files.length} ${what}s come`;
  return addNote(message, `:arrow_down: ${note} to you as a direct message from this app.`);
}

/** Adds a note, unless the message already has the fifty blocks that Slack accepts. */
function addNote(message: Message, note: string): Message {
  const blocks = message.blocks ?? [];
  return blocks.length === 0 || blocks.length >= 50
    ? message
    : { text: message.text, blocks: [...blocks, context(note)] };
}
