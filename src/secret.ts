import { inspect } from 'node:util';

const shown = '[secret]';

/**
 * A value that must never be printed: it reads as `[secret]` in strings, JSON, logs and inspection.
 * `reveal()` is the one way out, to be called only where the value leaves for its purpose.
 */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return shown;
  }

  toJSON(): string {
    return shown;
  }

  [inspect.custom](): string {
    return shown;
  }
}
