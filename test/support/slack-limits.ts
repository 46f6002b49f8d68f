import { checkMessage, checkSuggestions, checkView } from '../../simulator/slack/block-kit/checks.ts';

/** Everything that Slack would refuse in a message, and unescaped foreign markup. */
export function findMessageProblems(message: { readonly text: string }): string[] {
  return [...checkMessage({ ...message }, { label: 'message' }).problems, ...findMarkupProblems(message)];
}

export function findViewProblems(view: { readonly type: 'modal' | 'home' }): string[] {
  return [...checkView(view, view.type, view.type).problems, ...findMarkupProblems(view)];
}

export function findOptionProblems(options: readonly unknown[]): string[] {
  return checkSuggestions({ options: [...options] }, 'options').problems;
}

/** In mrkdwn, what is left of `<` and `>` must be ours: a date, a mention of a person, user group or channel. Entities must be whole. */
function findMarkupProblems(node: unknown): string[] {
  if (Array.isArray(node)) return node.flatMap(findMarkupProblems);
  if (typeof node !== 'object' || node === null) return [];
  const inner = Object.values(node).flatMap(findMarkupProblems);
  const isMrkdwn = 'type' in node && node.type === 'mrkdwn';
  const isMessage = 'blocks' in node && !('type' in node);
  if (!(isMrkdwn || isMessage) || !('text' in node) || typeof node.text !== 'string') return inner;
  const rest = node.text.replace(
    /<!date\^\d+\^[^|<>]+\|[^|<>]+>|<!subteam\^S[A-Z0-9]+>|<@[UW][A-Z0-9]+>|<#[CG][A-Z0-9]+>/gu,
    '',
  );
  const foreign = /[<>]|&(?!amp;|lt;|gt;)/u.exec(rest);
  return foreign
    ? [
        ...inner,
        `foreign markup in mrkdwn: ${rest.slice(Math.max(0, foreign.index - 20), foreign.index + 40)}`,
      ]
    : inner;
}
