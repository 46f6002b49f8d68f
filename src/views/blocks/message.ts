import type { KnownBlock, ModalView } from '@slack/types';
import type { Chart } from '../../charts/charts.ts';

/** A message: `text` alone for notifications and screen readers, and blocks. */
export interface Message {
  readonly text: string;
  readonly blocks?: KnownBlock[];
  /** Kinds of secrets that this message may contain (`link-token`); any other secret blocks it. */
  readonly carries?: readonly string[];
  /** Sent after the text, to the person's direct messages: Slack has no private files in channels. */
  readonly files?: readonly Attachment[];
}

/** The view that replaces a form's loading view; `message` says the same if the person closed it meanwhile. */
export interface FormResult {
  readonly modal: ModalView;
  readonly message: Message;
}

export interface Attachment {
  /** With the extension: `latency.png`. */
  readonly name: string;
  readonly title: string;
  /** Up to 1000 characters. */
  readonly altText?: string;
  readonly mimetype: string;
  /** The bytes; a spooled file, taken away once it was sent; or a chart that is drawn when it is its turn. */
  readonly content:
    | Uint8Array
    | { readonly path: string }
    | { readonly spooled: Spooled }
    | { readonly chart: Chart };
}

/** Where a spooled file goes. */
export interface Destination {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  /** Hears how many bytes more were taken, some times a second. */
  readonly moved: (bytes: number) => void;
}

/** What somebody said to a file that was sent. */
export interface Taken {
  readonly status: number;
  /** The header, as it came. */
  readonly retryAfter: string | undefined;
}

/** A file without a name, looked through for secrets while it was written. Whoever made it takes it away. */
export interface Spooled {
  readonly length: () => number;
  /** Posts all of it. */
  readonly send: (to: Destination) => Promise<Taken>;
  readonly discard: () => Promise<void>;
}
