import { el } from '../dom.js';
import { focusName, remember, valueOf, wire } from '../values.js';
import { labels } from './commit.js';

const inputTypes = { email_text_input: 'email', url_text_input: 'url', number_input: 'text' };

/** Text on one line or several, an e-mail address, a web address, a number, rich text (typed as plain text here). */
export function textInput(element, cx) {
  const tall = element.multiline === true || element.type === 'rich_text_input';
  const node = el(tall ? 'textarea' : 'input', {
    ...(tall ? { rows: element.min_lines ?? 4 } : { type: inputTypes[element.type] ?? 'text' }),
    class: 'field',
    placeholder: element.placeholder?.text,
    maxlength: element.max_length,
    inputmode: element.type === 'number_input' ? 'decimal' : undefined,
    autocomplete: 'off',
    spellcheck: tall ? 'true' : 'false',
    ...labels(element, cx),
    data: {
      focus: focusName(cx.surface, cx.block, element),
      ...(element.focus_on_load ? { first: '' } : {}),
    },
    on: {
      input: () => {
        remember(cx.surface, cx.block, element, node.value);
        if (tells('on_character_entered')) tell();
      },
      keydown: (event) => {
        if (event.key !== 'Enter' || tall || event.isComposing || !tells('on_enter_pressed')) return;
        event.preventDefault();
        event.stopPropagation();
        tell();
      },
    },
  });
  const tells = (moment) => {
    if (!cx.block.dispatch_action) return false;
    return (element.dispatch_action_config?.trigger_actions_on ?? ['on_enter_pressed']).includes(moment);
  };
  const tell = () => cx.surface.choose(cx.block, element, wire(node.value) ?? '');
  node.value = valueOf(cx.surface, cx.block, element) ?? '';
  return node;
}
