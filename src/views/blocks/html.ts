/** A piece of HTML with all foreign text escaped. */
export interface Html {
  readonly markup: string;
}

type Part = string | number | Html | readonly Html[];

/** A template tag: every value is escaped, except other pieces of HTML. */
export function html(texts: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return { markup: texts.map((text, index) => text + markupOf(parts[index] ?? '')).join('') };
}

/** A constant text of the bot, not escaped: a style sheet. */
export function asIs(markup: string): Html {
  return { markup };
}

function markupOf(part: Part): string {
  if (typeof part === 'object')
    return 'markup' in part ? part.markup : part.map(({ markup }) => markup).join('');
  return String(part).replace(/[&<>"']/gu, (sign) => entities[sign] ?? '');
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
