import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Script } from 'node:vm';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { readConfig, secretNames } from '../../src/app/config.ts';
import { version } from '../../src/lib/version.ts';

const root = new URL('../../', import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, root), 'utf8');
const readJson = (path: string): unknown => JSON.parse(read(path));

/** Names that the bot and Node read. */
const variables = new Set([
  ...[...read('src/app/config.ts').matchAll(/^ {2}([A-Z][A-Z0-9_]+):/gmu)].map(([, name]) => name),
  'NODE_ENV',
  ...secretNames.map((name) => `${name}_FILE`),
  'NODE_EXTRA_CA_CERTS',
  'HTTPS_PROXY',
  'HTTP_PROXY',
  'NO_PROXY',
  // The driver of PostgreSQL reads it.
  'PGSSLMODE',
]);
const { scripts, engines } = readJson('package.json') as {
  scripts: Record<string, string>;
  engines: { node: string };
};
const [, flags = ''] = /node ((?:--\S+ )+)dist\/bot\/main\.js all$/u.exec(scripts['start'] ?? '') ?? [];

test('the scripts that start the bot have the limits of memory of docs/operating.md', () => {
  const limits = [...read('docs/operating.md').matchAll(/^\| `(--m[^`]+)` \|/gmu)].map(([, one]) => one);
  for (const [script, role] of Object.entries({ start: 'all', web: 'web', worker: 'worker' }))
    expect(scripts[script]).toBe(`exec node ${limits.join(' ')} dist/bot/main.js ${role}`);
});

interface Service {
  readonly command?: string[];
  readonly environment: Record<string, string>;
  readonly volumes?: string[];
  readonly depends_on?: Record<string, { readonly condition: string }>;
  readonly healthcheck?: object;
  readonly build?: { readonly context: string; readonly dockerfile: string };
  readonly read_only?: boolean;
  readonly cap_drop?: string[];
}

const { services } = parse(read('deploy/compose.yml'), { merge: true }) as {
  services: Record<string, Service>;
};

test('compose: each process waits for what exists, and gets variables that the bot reads', () => {
  const { database, ...bots } = services;
  expect(Object.values(bots).map(({ command }) => command)).toEqual([['migrate'], ['web'], ['worker']]);
  for (const { environment, depends_on: waitsFor = {}, build, ...rest } of Object.values(bots)) {
    expect(rest).toMatchObject({ read_only: true, cap_drop: ['ALL'] });
    expect(Object.keys(environment).filter((name) => !variables.has(name))).toEqual([]);
    expect(existsSync(new URL(`deploy/${build?.context}/${build?.dockerfile}`, root))).toBe(true);
    for (const [name, { condition }] of Object.entries(waitsFor)) {
      // Its image has no check of its own.
      const isChecked = condition !== 'service_healthy' || services[name]?.healthcheck !== undefined;
      expect(services).toHaveProperty(name);
      expect(isChecked).toBe(true);
    }
  }
  // The password of the server and the one in the address are one variable.
  expect(bots['web']?.environment['DATABASE_URL']).toContain('POSTGRES_PASSWORD');
  expect(database?.environment['POSTGRES_PASSWORD']).toContain('POSTGRES_PASSWORD');
});

test('compose: each secret can be a file, and a private CA is passed on to Node', () => {
  const { environment = {}, volumes } = services['web'] ?? {};
  const inFiles = secretNames.filter((name) => name in environment && name !== 'DATABASE_URL');
  expect(inFiles).toHaveLength(5);
  for (const name of [...inFiles, 'ENCRYPTION_KEYS'])
    expect(environment[`${name}_FILE`]).toBe(`\${${name}_FILE:-}`);
  expect(environment['NODE_EXTRA_CA_CERTS']).toBe('${CA_FILE:+/run/ca.pem}');
  expect(volumes).toEqual(['${CA_FILE:-/dev/null}:/run/ca.pem:ro', './secrets:/run/secrets:ro']);
  expect(environment['PGSSLMODE']).toBe('${PGSSLMODE:-}');
  // What is not set arrives empty, and counts as not set.
  const empty = Object.fromEntries(Object.keys(environment).map((name) => [name, '']));
  const words = { SLACK_BOT_TOKEN: 'xoxb-1-a', SLACK_APP_TOKEN: 'xapp-1-a' };
  expect(readConfig({ ...empty, ...words }).store.databaseUrl).toBeUndefined();
});

test('Containerfile: it copies what it may and what is there, and starts as npm does', () => {
  const lines = read('deploy/Containerfile').replaceAll('\\\n', ' ').split('\n');
  const sent = read('deploy/Containerfile.dockerignore').split('\n');
  const find = (word: string): string[] =>
    lines.flatMap((line) => (line.startsWith(`${word} `) ? [line.slice(word.length + 1)] : []));
  const copied = find('COPY')
    .filter((words) => !words.startsWith('--from'))
    .flatMap((words) => words.split(' ').slice(0, -1));
  expect(copied.toSorted()).toEqual(['build.ts', 'package-lock.json', 'package.json', 'src']);
  for (const path of copied) {
    expect(existsSync(new URL(path, root))).toBe(true);
    expect(sent).toContain(`!${path}`);
  }
  const [major] = /\d+/u.exec(engines.node) ?? [];
  for (const image of find('FROM')) expect(image).toMatch(`node:${major}-`);
  expect(find('USER')).toEqual(['node']);
  const [entry = '[]'] = find('ENTRYPOINT');
  expect(JSON.parse(entry)).toEqual(['node', ...flags.trim().split(' '), 'dist/bot/main.js']);
  // The program of the health check is JavaScript.
  const [, , code] = JSON.parse(/CMD (\[.*\])/u.exec(find('HEALTHCHECK')[0] ?? '')?.[1] ?? '[]') as string[];
  expect(() => new Script(code ?? '(')).not.toThrow();
});

test('Heroku: its processes are those of the Procfile, which are scripts, and its variables are read', () => {
  const { env, formation } = readJson('app.json') as { env: object; formation: object };
  const processes = read('Procfile')
    .trim()
    .split('\n')
    .map((line) => line.split(': npm run '));
  expect(processes.map(([name]) => name).filter((name) => name !== 'release')).toEqual(
    Object.keys(formation),
  );
  for (const [, script = ''] of processes) expect(scripts).toHaveProperty(script);
  expect(Object.keys(env).filter((name) => !variables.has(name))).toEqual([]);
  // Its PostgreSQL takes TLS only, and signs for itself; the address that it gives has no sslmode.
  expect(env).toMatchObject({ PGSSLMODE: { value: 'no-verify' } });
});

const chart = 'deploy/helm';
const templates = readdirSync(new URL(`${chart}/templates`, root))
  .filter((file) => !file.endsWith('.txt'))
  .map((file) => read(`${chart}/templates/${file}`));
const values = parse(read(`${chart}/values.yaml`)) as object;

/** What a pattern finds in the templates, each once. */
const findInTemplates = (pattern: RegExp): Set<string> =>
  new Set(templates.flatMap((text) => [...text.matchAll(pattern)].map(([, found = '']) => found)));

test('Helm: the chart is of this version, every value is used, and every value that a template uses is there', () => {
  expect(parse(read(`${chart}/Chart.yaml`))).toMatchObject({ version, appVersion: version });
  const used = findInTemplates(/\.Values((?:\.\w+)+)/gu);
  const list = (value: unknown, path: string): string[] =>
    used.has(path) || typeof value !== 'object' || value === null
      ? [path]
      : Object.entries(value).flatMap(([name, inner]) => list(inner, `${path}.${name}`));
  expect(new Set(list(values, ''))).toEqual(used);
  expect(values).toMatchObject({ web: { replicas: 2 }, worker: { replicas: 2 } });
});

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
}

test('Helm: the schema of values names every value, and no other', () => {
  const schema = readJson(`${chart}/values.schema.json`) as Schema;
  const { global: _, ...named } = schema.properties ?? {};
  const compare = (value: unknown, { properties }: Schema, path: string): void => {
    if (!properties) return;
    const names = [properties, value as object].map((one) => Object.keys(one).toSorted());
    expect([path, names[0]]).toEqual([path, names[1]]);
    for (const [name, inner] of Object.entries(properties))
      compare((value as Record<string, unknown>)[name], inner, `${path}.${name}`);
  };
  compare(values, { properties: named }, '');
});

test('Helm: variables are known, blocks end, and what is included or a port by name is defined', () => {
  const set = findInTemplates(/name: ([A-Z][A-Z_]+),/gu);
  expect([...set].filter((name) => !variables.has(name))).toEqual([]);
  expect(set).toContain('METRICS_PORT');
  const given = [...read(`${chart}/values.yaml`).matchAll(/[A-Z]{3,}(?:_[A-Z]+)+/gu)].map(([name]) => name);
  expect(given.filter((name) => !variables.has(name))).toEqual([]);
  for (const text of templates) {
    const count = (word: RegExp): number => [...text.matchAll(word)].length;
    expect(count(/\{\{-? ?(?:if|range|with|define) /gu)).toBe(count(/\{\{-? ?end /gu));
  }
  expect(findInTemplates(/include "([^"]+)"/gu)).toEqual(findInTemplates(/define "([^"]+)"/gu));
  const ports = findInTemplates(/name: (\w+), containerPort/gu);
  expect(ports).toEqual(new Set(['http', 'operator']));
  for (const port of findInTemplates(/(?:port|targetPort): ([a-z]+)\b/gu)) expect(ports).toContain(port);
});

const unit = 'deploy/cdn-chatops.service';

test('systemd: the unit starts as npm does, with variables that the bot reads', () => {
  const text = read(unit);
  expect(text).toContain(`ExecStart=/usr/bin/node ${flags}dist/bot/main.js all`);
  const given = [...text.matchAll(/^Environment=(.*)$/gmu)].flatMap(([, words = '']) => words.split(' '));
  expect(given.map((word) => word.split('=', 1)[0] ?? '').filter((name) => !variables.has(name))).toEqual([]);
});

const hasSystemd = existsSync('/usr/bin/systemd-analyze') && existsSync('/usr/bin/node');

test.skipIf(!hasSystemd)('systemd: systemd-analyze finds no fault in the unit', () => {
  const words = ['verify', '--man=no', fileURLToPath(new URL(unit, root))];
  expect(execFileSync('/usr/bin/systemd-analyze', words, { encoding: 'utf8', stdio: 'pipe' })).toBe('');
});

test('.env.example: it names the documented variables and no others, and a start with it says what is left to fill in', () => {
  const lines = read('.env.example').split('\n');
  const names = lines.flatMap((line) => /^(?:# )?([A-Z][A-Z0-9_]+)=/u.exec(line)?.[1] ?? []);
  expect(names.filter((name) => !variables.has(name))).toEqual([]);
  const firstCells =
    read('docs/configuration.md')
      .match(/^\| `[A-Z].*?(?= \|)/gmu)
      ?.join() ?? '';
  const documented = [...firstCells.matchAll(/`([A-Z]{4,}[A-Z_]*)`/gu)].map(([, name = '']) => name);
  expect(documented.filter((name) => !lines.join('\n').includes(name))).toEqual([]);
  expect(documented).toContain('HTTPS_PROXY');
  const words = ['--env-file=.env.example', 'dist/bot/main.js'];
  const { status, stderr } = spawnSync(process.execPath, words, { cwd: root, env: {}, encoding: 'utf8' });
  expect(status).toBe(1);
  expect(stderr).toContain('SLACK_BOT_TOKEN');
});

test('the version of Node is one, wherever it is written', () => {
  const [major] = /\d+/u.exec(engines.node) ?? [];
  expect(read('.nvmrc').trim()).toBe(major);
  for (const workflow of ['ci', 'release'])
    expect(read(`.github/workflows/${workflow}.yml`)).toContain(`node:${major}-`);
});
