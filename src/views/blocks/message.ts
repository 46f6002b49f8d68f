import type { KnownBlock, ModalView } from '@slack/types';

/** A message: `text` alone for notifications and screen readers, and blocks. */
export interface Message {
  readonly text: string;
  readonly blocks?: MessageBlock[];
  /** Kinds of secrets that this message may contain (`link-token`); any other secret blocks it. */
  readonly carries?: readonly string[];
  /** Sent after the text, to the person's direct messages: Slack has no private files in channels. */
  readonly files?: readonly Attachment[];
}

export type MessageBlock = KnownBlock | ChartBlock;

/** A chart that Slack draws; not in @slack/types 3.2.0. https://docs.slack.dev/reference/block-kit/blocks/data-visualization-block */
export interface ChartBlock {
  readonly type: 'data_visualization';
  readonly title: string;
  readonly chart: {
    readonly type: 'line' | 'bar';
    readonly series: readonly {
      readonly name: string;
      readonly data: readonly { readonly label: string; readonly value: number }[];
    }[];
    readonly axis_config: { readonly categories: readonly string[]; readonly y_label: string };
  };
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
  /** The bytes; a temporary file, deleted after sending; or a chart, rendered before sending. */
  readonly content: Uint8Array | { readonly path: string } | { readonly spooled: Spooled };
}

/** The destination of a spooled file. */
export interface Destination {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  /** Called with the number of further bytes sent, a few times a second. */
  readonly moved: (bytes: number) => void;
}

/** The answer to a sent file. */
export interface Taken {
  readonly status: number;
  /** The header, as it came. */
  readonly retryAfter: string | undefined;
}

/** A file without a name, scanned for secrets while it was written. Its creator discards it. */
export interface Spooled {
  readonly length: () => number;
  /** Posts all of it. */
  readonly send: (to: Destination) => Promise<Taken>;
  readonly discard: () => Promise<void>;
}
