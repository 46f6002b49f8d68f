/**
 * A small check of what Slack takes (reference: Block Kit limits), for views that are tested without the Slack
 * double. Walks messages, views and lists of options; says what is wrong with a path.
 */
export function problemsOf(payload: unknown): string[] {
  const problems: string[] = [];
  const all = walk(payload, '', problems);
  if (isObject(payload) && 'text' in payload && 'blocks' in payload) {
    if (typeof payload['text'] !== 'string' || payload['text'] === '') problems.push('/text is empty');
    if (String(payload['text']).length > 4000) problems.push('/text is longer than 4000');
    if (all > 12_500) problems.push(`all blocks together have ${all} characters`);
  }
  return problems;
}

const textLimits: Readonly<Record<string, number>> = {
  section: 3000,
  header: 150,
  button: 75,
  option: 75,
  mrkdwn: 3000,
};

function walk(node: unknown, path: string, problems: string[]): number {
  if (Array.isArray(node)) {
    if (path.endsWith('/blocks')) blocks(node, path, problems);
    if (path.endsWith('/options') && node.length > 100) problems.push(`${path} has ${node.length} options`);
    return node.reduce<number>((sum, child, index) => sum + walk(child, `${path}/${index}`, problems), 0);
  }
  if (!isObject(node)) return 0;
  let size = 0;
  const type = String(node['type'] ?? 'option');
  const limit = (name: string, most: number, least = 1) => {
    const value = node[name];
    if (value === undefined) return;
    if (typeof value !== 'string' || value.length > most || value.length < least) {
      problems.push(`${path}/${name} has ${String(value).length} characters, not ${least} to ${most}`);
    }
  };
  const text = node['text'];
  if (isObject(text)) {
    const length = String(text['text'] ?? '').length;
    const most = textLimits[type] ?? 3000;
    if (length < 1 || length > most) problems.push(`${path}/text has ${length} characters, not 1 to ${most}`);
  } else if (path !== '') limit('text', 3000);
  if (typeof text === 'string' && path !== '') size += text.length;
  limit('action_id', 255);
  limit('block_id', 255);
  limit('callback_id', 255);
  limit('value', type === 'button' ? 2000 : 75);
  if (type === 'modal') {
    for (const name of ['title', 'submit', 'close']) {
      const label = node[name];
      if (isObject(label) && String(label['text']).length > 24)
        problems.push(`${path}/${name} is longer than 24`);
    }
    const inputs = (node['blocks'] as { type: string }[]).some((block) => block.type === 'input');
    if (inputs && !node['submit']) problems.push(`${path} has inputs and no submit`);
  }
  if (type === 'actions' || type === 'context') {
    const elements = node['elements'] as unknown[];
    const most = type === 'actions' ? 25 : 10;
    if (elements.length < 1 || elements.length > most)
      problems.push(`${path} has ${elements.length} elements`);
    unique(elements, 'action_id', path, problems);
  }
  if (type === 'mrkdwn') markup(String(text), path, problems);
  for (const [name, child] of Object.entries(node)) size += walk(child, `${path}/${name}`, problems);
  return size;
}

function blocks(found: unknown[], path: string, problems: string[]): void {
  if (found.length < 1 || found.length > 50) problems.push(`${path} has ${found.length} blocks`);
  unique(found, 'block_id', path, problems);
}

/** What is left of `<` and `>` must be ours: a date, a mention of the person. Entities must be whole. */
function markup(text: string, path: string, problems: string[]): void {
  const rest = text.replace(/<!date\^\d+\^[^|<>]+\|[^|<>]+>|<@[UW][A-Z0-9]+>/gu, '');
  if (/[<>]/u.test(rest)) problems.push(`${path} has foreign markup: ${rest.slice(0, 80)}`);
  if (/&(?!amp;|lt;|gt;)/u.test(rest)) problems.push(`${path} has a broken entity: ${rest.slice(0, 80)}`);
}

function unique(items: unknown[], name: string, path: string, problems: string[]): void {
  const ids = items.flatMap((item) => (isObject(item) && item[name] !== undefined ? [item[name]] : []));
  if (new Set(ids).size < ids.length) problems.push(`${path} repeats a ${name}`);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
