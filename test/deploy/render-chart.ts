import { readdirSync, readFileSync } from 'node:fs';
import { parse, parseAllDocuments, stringify } from 'yaml';

type Json = Readonly<Record<string, unknown>>;

/** A piece of a template: text, or an action in braces with what stands up to its `end`. */
type Node = string | { readonly action: string; readonly body: readonly Node[] };

interface Scope {
  readonly dot: unknown;
  readonly variables: Readonly<Record<string, unknown>>;
}

/**
 * The objects of a chart. Renders the part of helm's template language that the chart uses, and refuses all else: helm
 * itself is not in the registries that tests install from.
 */
export function renderChart(folder: URL, overrides: Json = {}): Json[] {
  return parseObjects(renderFiles(folder, overrides, /\.(?:yaml|tpl)$/u));
}

/** What `helm install` prints. */
export function renderNotes(folder: URL, overrides: Json = {}): string {
  return renderFiles(folder, overrides, /\.txt$/u);
}

function renderFiles(folder: URL, overrides: Json, wanted: RegExp): string {
  const read = (path: string): string => readFileSync(new URL(path, folder), 'utf8');
  const { version, appVersion, name } = parse(read('Chart.yaml')) as Record<string, string>;
  const dot = {
    Values: merge(parse(read('values.yaml')) as Json, overrides),
    Chart: { Name: name, Version: version, AppVersion: appVersion },
    Release: { Name: 'bot', Service: 'Helm' },
  };
  const files = readdirSync(new URL('templates', folder))
    .filter((file) => wanted.test(file))
    .toSorted();
  const trees = files.map((file) => parseTemplate(read(`templates/${file}`)));
  const defined = new Map(
    trees
      .flat()
      .flatMap((node) =>
        typeof node !== 'string' && node.action.startsWith('define ')
          ? [[JSON.parse(node.action.slice(7)) as string, node.body] as const]
          : [],
      ),
  );
  return trees.map((tree) => render(tree, { dot, variables: { $: dot } }, defined)).join('\n---\n');
}

function parseObjects(text: string): Json[] {
  return parseAllDocuments(text).flatMap((document) => {
    if (document.errors.length > 0) throw new Error(`${document.errors.join('\n')}\n${text}`);
    const value = document.toJS() as Json | null;
    return value ? [value] : [];
  });
}

const isMap = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function merge(base: Json, over: Json): Json {
  const merged = Object.entries(over).map(([name, value]) => {
    const inner = base[name];
    return [name, isMap(inner) && isMap(value) ? merge(inner, value) : value];
  });
  return { ...base, ...Object.fromEntries(merged) };
}

function parseTemplate(text: string): Node[] {
  const parts = text
    .replaceAll(/\s*\{\{-/gu, '{{')
    .replaceAll(/-\}\}\s*/gu, '}}')
    .split(/\{\{(.*?)\}\}/gsu);
  const root: Node[] = [];
  const open = [root];
  for (const [index, part] of parts.entries()) {
    const action = part.trim();
    if (index % 2 === 0) open.at(-1)?.push(part);
    else if (action === 'end') open.pop();
    else {
      const body: Node[] = [];
      open.at(-1)?.push({ action, body });
      if (/^(?:range|with|if|define)\s/u.test(action)) open.push(body);
    }
  }
  if (open.length !== 1) throw new Error('a block of the template has no end');
  return root;
}

type Defined = ReadonlyMap<string, readonly Node[]>;

function render(nodes: readonly Node[], scope: Scope, defined: Defined): string {
  let { variables } = scope;
  return nodes
    .map((node) => {
      if (typeof node === 'string') return node;
      const here = { ...scope, variables };
      const [, word = '', rest = ''] = /^(range|with|if|define)\s+(.*)$/su.exec(node.action) ?? [];
      const assigned = /^(\$\w*)\s*:=\s*(.*)$/su.exec(node.action);
      if (word === 'define') return '';
      if (assigned) {
        variables = { ...variables, [assigned[1] as string]: evaluate(assigned[2] as string, here, defined) };
        return '';
      }
      if (word === 'range') {
        const [, key = '', value = '', list = ''] = /^(\$\w+), (\$\w+) := (.*)$/u.exec(rest) ?? [];
        return Object.entries(evaluate(list, here, defined) as Json)
          .map(([name, item]) =>
            render(
              node.body,
              { dot: item, variables: { ...variables, [key]: name, [value]: item } },
              defined,
            ),
          )
          .join('');
      }
      const value = evaluate(rest || node.action, here, defined);
      if (word === '') return String(value);
      if (!isTrue(value)) return '';
      return render(node.body, word === 'with' ? { ...here, dot: value } : here, defined);
    })
    .join('');
}

const isTrue = (value: unknown): boolean =>
  typeof value === 'object' && value !== null ? Object.keys(value).length > 0 : Boolean(value);

function evaluate(expression: string, scope: Scope, defined: Defined): unknown {
  const tokens = expression.match(/"(?:[^"\\]|\\.)*"|[()|]|[^\s()|]+/gu) ?? [];
  const term = (): unknown => {
    const token = tokens.shift() ?? '';
    if (token === '(') {
      const value = pipeline();
      tokens.shift();
      return value;
    }
    if (token.startsWith('"')) return JSON.parse(token);
    if (/^\d+$/u.test(token)) return Number(token);
    const [, root = '', path = ''] = /^(\$\w*|)((?:\.\w+)*)\.?$/u.exec(token) ?? [];
    if (root === '' && !token.startsWith('.')) throw new Error(`the template uses ${token}`);
    return path
      .split('.')
      .slice(1)
      .reduce<unknown>((at, name) => (at as Json)[name], root === '' ? scope.dot : scope.variables[root]);
  };
  const call = (piped: unknown[]): unknown => {
    const name = tokens[0] ?? '';
    if (!/^[a-z]\w*$/iu.test(name)) return term();
    tokens.shift();
    const args: unknown[] = [];
    while (tokens.length > 0 && tokens[0] !== ')' && tokens[0] !== '|') args.push(term());
    return run(name, [...args, ...piped], defined);
  };
  const pipeline = (): unknown => {
    let value = call([]);
    while (tokens[0] === '|') {
      tokens.shift();
      value = call([value]);
    }
    return value;
  };
  return pipeline();
}

function run(name: string, args: readonly unknown[], defined: Defined): unknown {
  const [first, second] = args;
  switch (name) {
    case 'quote':
      return JSON.stringify(String(first));
    case 'default':
      return isTrue(second) ? second : first;
    case 'not':
      return !isTrue(first);
    case 'eq':
      return first === second;
    case 'ne':
      return first !== second;
    case 'toYaml':
      return stringify(first).trimEnd();
    case 'nindent':
      return String(second)
        .replaceAll(/^/gmu, ' '.repeat(Number(first)))
        .replace(/^/u, '\n');
    case 'dict': {
      const pairs = args.flatMap((key, index) => (index % 2 === 0 ? [[key, args[index + 1]]] : []));
      return Object.fromEntries(pairs) as Json;
    }
    case 'include': {
      const body = defined.get(String(first));
      if (!body) throw new Error(`the chart defines no ${String(first)}`);
      return render(body, { dot: second, variables: { $: second } }, defined);
    }
    default:
      throw new Error(`the template uses ${name}`);
  }
}
