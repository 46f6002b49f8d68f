import type { Taken } from '../../views/blocks/message.ts';

/** What the thread of `transfer.ts` is asked: by name, what it is given and what it gives back. */
export interface Asks {
  /** Asks somebody for a body, which stays in the thread, known by the number of this call. */
  readonly request: {
    readonly given: {
      readonly url: string;
      readonly method: string;
      readonly headers: Readonly<Record<string, string>>;
      readonly body: string | undefined;
    };
    readonly back: { readonly status: number; readonly headers: readonly (readonly [string, string])[] };
  };
  /** The next piece of a body, in the shared memory until the one after it is asked for; undefined at its end. */
  readonly piece: { readonly given: { readonly body: number }; readonly back: Range | undefined };
  /** A new file, known by the number of this call. */
  readonly open: { readonly given: { readonly directory: string }; readonly back: undefined };
  readonly write: {
    readonly given: { readonly file: number; readonly piece: Range | Uint8Array };
    readonly back: undefined;
  };
  /** All of it was written. */
  readonly finish: { readonly given: { readonly file: number }; readonly back: { readonly sha256: string } };
  /** Posts a whole file. Tells meanwhile how many bytes were taken. */
  readonly send: {
    readonly given: {
      readonly file: number;
      readonly url: string;
      readonly headers: Readonly<Record<string, string>>;
    };
    readonly back: Taken;
  };
  readonly discard: { readonly given: { readonly file: number }; readonly back: undefined };
}

export type Ask = keyof Asks;

/** Bytes of the shared memory. */
export interface Range {
  readonly from: number;
  readonly length: number;
}

export type ToTransfer =
  | { [Name in Ask]: { readonly call: number; readonly ask: Name; readonly given: Asks[Name]['given'] } }[Ask]
  /** Whatever goes on under this number ends: the call, and the body it brought. */
  | { readonly stop: number };

export type FromTransfer =
  | { readonly call: number; readonly back: Asks[Ask]['back'] }
  | { readonly call: number; readonly failed: Failed }
  | { readonly call: number; readonly moved: number };

/** Of an error only its code travels: messages of requests may name what was sent. */
export interface Failed {
  readonly code: string | undefined;
}

export const slotBytes = 1_048_576;
export const slots = 4;
