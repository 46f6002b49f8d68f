export interface ExportLimits {
  /** Slack's limit for one file. */
  readonly fileBytes: number;
  /** Size of a part of a split export; below `fileBytes`, since the copy for spreadsheets grows by its quotes. */
  readonly partBytes: number;
  readonly parts: number;
  readonly files: number;
}

/**
 * 1 GB a file: https://slack.com/help/articles/201330736. Slack documents no number of files in one message; fourteen
 * are accepted, fifteen end in `internal_error`: https://github.com/slackapi/python-slack-sdk/issues/1653.
 */
export const exportLimits: ExportLimits = {
  fileBytes: 1_000_000_000,
  partBytes: 700_000_000,
  parts: 10,
  files: 14,
};

interface TooLarge {
  /** The announced length, or else the bytes received so far. */
  readonly bytes: number;
  readonly announced: boolean;
  readonly limit: number;
}

/** The log is larger than what may be sent. */
export class ExportTooLarge extends Error {
  override readonly name = 'ExportTooLarge';
  readonly bytes: number;
  readonly announced: boolean;
  readonly limit: number;

  constructor({ bytes, announced, limit }: TooLarge) {
    super('the export is too large');
    this.bytes = bytes;
    this.announced = announced;
    this.limit = limit;
  }
}

/** A live secret is in the log. */
export class SecretFound extends Error {
  override readonly name = 'SecretFound';
  readonly kinds: readonly string[];

  constructor(kinds: readonly string[]) {
    super('a live secret is in a file');
    this.kinds = kinds;
  }
}
