import type { Attachment, Message } from '../views/blocks/message.ts';

/** What a run sends, one call to Slack each: the first into the channel, the others into its thread. */
export type OutboundMessage =
  | { readonly message: Message; readonly files?: undefined }
  | { readonly files: readonly Attachment[]; readonly message?: undefined };

/** A message's files go behind it: a failing upload never loses the text. */
export function toOutboundMessages(top: Message, thread: readonly Message[]): OutboundMessage[] {
  return [top, ...thread].flatMap(({ files = [], ...message }): OutboundMessage[] => [
    { message },
    ...(files.length > 0 ? [{ files }] : []),
  ]);
}

/** As JSON: bytes are no data that a row should hold, charts are drawn when they are sent. */
export function writeOutboundMessages(parts: readonly OutboundMessage[]): string {
  for (const file of parts.flatMap(({ files }) => files ?? [])) {
    if (!('chart' in file.content)) throw new Error(`the file ${file.name} of a digest is no chart`);
  }
  return JSON.stringify(parts);
}

export function readOutboundMessages(text: string | null): readonly OutboundMessage[] {
  return text === null ? [] : (JSON.parse(text) as OutboundMessage[]);
}
