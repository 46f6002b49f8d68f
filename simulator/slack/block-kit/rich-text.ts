import { byType, flag, integer, list, number, oneOf, type Rule, shape, string, url } from './rules.ts';

const style = shape({}, { bold: flag, italic: flag, strike: flag, code: flag, underline: flag });
const styled = { style };
const long = string(12_000);

const inline = byType({
  text: shape({ text: long }, styled),
  link: shape({ url }, { ...styled, text: long, unsafe: flag }),
  user: shape({ user_id: string(255) }, styled),
  usergroup: shape({ usergroup_id: string(255) }, styled),
  channel: shape({ channel_id: string(255) }, styled),
  team: shape({ team_id: string(255) }, styled),
  emoji: shape({ name: string(255) }, { ...styled, unicode: string(255), url, skin_tone: integer(2, 6) }),
  date: shape({ timestamp: number, format: string(255) }, { ...styled, url, fallback: string(255) }),
  broadcast: shape({ range: oneOf('here', 'channel', 'everyone') }, styled),
  color: shape({ value: string(255) }, styled),
});

const many = 10_000;
const inlines = list(inline, many, 0);
const section = shape({ elements: inlines });
const border = oneOf(0, 1);

/** A rich_text block: sections, lists, quotes and preformatted parts, each with its inline elements. */
export const richText: Rule = byType({
  rich_text: shape(
    {
      elements: list(
        byType({
          rich_text_section: section,
          rich_text_quote: shape({ elements: inlines }, { border }),
          rich_text_preformatted: shape({ elements: inlines }, { border, language: string(255) }),
          rich_text_list: shape(
            {
              elements: list(byType({ rich_text_section: section }), many),
              style: oneOf('bullet', 'ordered'),
            },
            { indent: integer(0, 8), offset: integer(0, many), border },
          ),
        }),
        many,
      ),
    },
    { block_id: string(255) },
  ),
});
