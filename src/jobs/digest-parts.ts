import type { Attachment, Message } from '../views/message.ts';

/** What a run sends, one call to Slack each: the first into the channel, the others into its thread. */
export type Part =
  | { readonly message: Message; readonly files?: undefined }
  | { readonly files: readonly Attachment[]; readonly message?: undefined };

/** A message's files go behind it: a failing upload never loses the text. */
export function partsOf(top: Message, thread: readonly Message[]): Part[] {
  return [top, ...thread].flatMap(({ files = [], ...message }): Part[] => [
    { message },
    ...(files.length > 0 ? [{ files }] : []),
  ]);
}

/** As JSON: bytes are no data that a row should hold, charts are drawn when they are sent. */
export function storedParts(parts: readonly Part[]): string {
  for (const file of parts.flatMap(({ files }) => files ?? [])) {
    if (!('chart' in file.content)) throw new Error(`the file ${file.name} of a digest is no chart`);
  }
  return JSON.stringify(parts);
}

export function readParts(text: string | null): readonly Part[] {
  return text === null ? [] : (JSON.parse(text) as Part[]);
}
