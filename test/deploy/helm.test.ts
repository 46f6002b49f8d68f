import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { version } from '../../src/lib/version.ts';
import { renderChart, renderNotes } from './render-chart.ts';

interface Container {
  readonly args: string[];
  readonly ports?: { readonly name: string; readonly containerPort: number }[];
  readonly env: { readonly name: string; readonly value: string }[];
  readonly startupProbe?: { readonly httpGet: { readonly port: string } };
  readonly securityContext: object;
}
interface Pod {
  readonly metadata: { readonly labels: Record<string, string> };
  readonly spec: { readonly containers: Container[]; readonly imagePullSecrets?: object[] };
}
interface Resource {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels: Record<string, string> };
  readonly spec: {
    readonly template?: Pod;
    readonly selector?: Record<string, unknown>;
    readonly egress?: { readonly ports: object[] }[];
    readonly ports?: object[];
    readonly ingress?: { readonly ports: { readonly port: string }[] }[];
  };
}

const folder = new URL('../../deploy/helm/', import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, folder), 'utf8');
const render = (overrides = {}): Resource[] => renderChart(folder, overrides) as unknown as Resource[];
const pods = (resources: readonly Resource[]): Pod[] => resources.flatMap(({ spec }) => spec.template ?? []);

test('the chart is of this version, and renders what a bot on PostgreSQL needs', () => {
  expect(parse(read('Chart.yaml'))).toMatchObject({ version, appVersion: version });
  const resources = render();
  expect(resources.map(({ kind, metadata }) => `${kind} ${metadata.name}`)).toEqual([
    'Job bot-migrate',
    'Service bot',
    'NetworkPolicy bot',
    'Deployment bot-web',
    'PodDisruptionBudget bot-web',
    'Deployment bot-worker',
    'PodDisruptionBudget bot-worker',
  ]);
  const containers = pods(resources).flatMap(({ spec }) => spec.containers);
  expect(containers.map(({ args }) => args)).toEqual([['migrate'], ['web'], ['worker']]);
  for (const { securityContext } of containers)
    expect(securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
});

test('every value is used by a template, and every value that a template uses is there', () => {
  const files = readdirSync(new URL('templates', folder)).filter((file) => !file.endsWith('.txt'));
  const templates = files.map((file) => read(`templates/${file}`));
  const used = new Set([...templates.join('').matchAll(/\.Values((?:\.\w+)+)/gu)].map(([, path]) => path));
  const values = parse(read('values.yaml')) as object;
  const list = (value: unknown, path: string): string[] =>
    used.has(path) || typeof value !== 'object' || value === null
      ? [path]
      : Object.entries(value).flatMap(([name, inner]) => list(inner, `${path}.${name}`));
  expect(new Set(list(values, ''))).toEqual(used);
  expect(values).toMatchObject({ web: { replicas: 2 }, worker: { replicas: 2 } });
});

const egress = (overrides: object): unknown[] =>
  render({ networkPolicy: overrides })
    .filter(({ kind }) => kind === 'NetworkPolicy')
    .flatMap(({ spec }) => spec.egress?.flatMap(({ ports }) => ports) ?? []);
const tcp = (port: number) => ({ port, protocol: 'TCP' });

test('the policy lets out DNS, https, PostgreSQL, and the collector where one is named', () => {
  const always = [{ port: 53, protocol: 'UDP' }, tcp(53), tcp(443)];
  expect(egress({})).toEqual([...always, tcp(5432)]);
  const ports = { postgresPort: 6432, proxyPort: 3128, collectorPort: 4318 };
  expect(egress(ports)).toEqual([...always, tcp(6432), tcp(3128), tcp(4318)]);
  expect(egress({ enabled: false })).toEqual([]);
});

test('ports that probes, the service and the policy name are ports of the pods they select', () => {
  const resources = render({ operatorPort: 9999, env: { PUBLIC_URL: 'https://bot.example' } });
  for (const { spec, metadata } of pods(resources)) {
    const [container] = spec.containers;
    const variables = Object.fromEntries(container?.env.map(({ name, value }) => [name, value]) ?? []);
    expect(variables).toEqual({
      PORT: '3000',
      METRICS_PORT: '9999',
      PGSSLMODE: 'verify-full',
      PUBLIC_URL: 'https://bot.example',
    });
    const ports = Object.fromEntries(
      container?.ports?.map(({ name, containerPort }) => [name, containerPort]) ?? [],
    );
    const role = metadata.labels['role'];
    const operator = { operator: 9999 };
    expect(ports).toEqual(role === 'migrate' ? {} : role === 'web' ? { http: 3000, ...operator } : operator);
    expect(container?.startupProbe?.httpGet.port).toBe(role === 'migrate' ? undefined : 'operator');
  }
  const service = resources.find(({ kind }) => kind === 'Service')?.spec;
  expect(service?.selector).toEqual({ 'app.kubernetes.io/instance': 'bot', role: 'web' });
  expect(service?.ports).toEqual([{ name: 'http', port: 80, targetPort: 'http' }]);
  const policy = resources.find(({ kind }) => kind === 'NetworkPolicy')?.spec;
  expect(policy?.ingress?.flatMap(({ ports }) => ports.map(({ port }) => port))).toEqual([
    'http',
    'operator',
  ]);
  const from = (scrapeNamespace: string): unknown =>
    render({ networkPolicy: { scrapeNamespace } }).find(({ kind }) => kind === 'NetworkPolicy')?.spec
      .ingress?.[1];
  expect(from('')).toMatchObject({ from: [{ podSelector: {} }] });
  expect(from('monitoring')).toMatchObject({
    from: [
      { podSelector: {} },
      { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'monitoring' } } },
    ],
  });
});

test('pull secrets, the tag and resources that are set are in every pod', () => {
  const set = { imagePullSecrets: [{ name: 'registry' }], image: { tag: '1.2.3' } };
  const all = pods(render(set));
  expect(all).toHaveLength(3);
  for (const { spec } of all) {
    expect(spec.imagePullSecrets).toEqual([{ name: 'registry' }]);
    expect(spec.containers).toMatchObject([
      { image: 'cdn-chatops:1.2.3', resources: { limits: { memory: '512Mi' } } },
    ]);
  }
});

test('an ingress passes on what Slack and people need, and nothing of the operator', () => {
  const ingress = { enabled: true, host: 'bot.example', tlsSecretName: 'bot-tls', className: 'nginx' };
  const all = render({ ingress });
  const [made] = all.filter(({ kind }) => kind === 'Ingress') as unknown as IngressResource[];
  expect(made?.spec).toMatchObject({
    ingressClassName: 'nginx',
    tls: [{ hosts: ['bot.example'], secretName: 'bot-tls' }],
  });
  const service = all.find(({ kind }) => kind === 'Service');
  const paths = made?.spec.rules.flatMap(({ http }) => http.paths) ?? [];
  expect(paths.map(({ path }) => path)).toEqual(['/slack/', '/connect/', '/mcp']);
  for (const { backend } of paths)
    expect(backend.service).toEqual({ name: service?.metadata.name, port: { name: 'http' } });
  expect(render().some(({ kind }) => kind === 'Ingress')).toBe(false);
  expect(renderNotes(folder, { ingress })).toContain('https://bot.example/slack/events');
  expect(renderNotes(folder)).toContain('set ingress.enabled');
});

interface IngressResource {
  readonly spec: {
    readonly rules: readonly {
      readonly http: {
        readonly paths: readonly { readonly path: string; readonly backend: { readonly service: object } }[];
      };
    }[];
  };
}

const matches = (labels: object, wanted: object): boolean =>
  Object.entries(wanted).every(([name, value]) => (labels as Record<string, unknown>)[name] === value);

test('a monitor scrapes the port of metrics, and a private CA is trusted by Node', () => {
  const all = render({
    serviceMonitor: { enabled: true, labels: { release: 'prometheus' } },
    caSecretName: 'company-ca',
  });
  const [service, monitor] = ['bot-operator', 'bot'].map((name, nth) =>
    all.find(({ kind, metadata }) => kind === ['Service', 'ServiceMonitor'][nth] && metadata.name === name),
  );
  expect(monitor?.spec).toMatchObject({
    endpoints: [{ port: 'operator', path: '/metrics', interval: '30s' }],
  });
  expect(monitor?.metadata.labels).toMatchObject({ release: 'prometheus' });
  // It selects that service alone, and the service the pods that have such a port.
  const { matchLabels } = (monitor?.spec.selector ?? {}) as { matchLabels: object };
  const services = all.filter(({ kind }) => kind === 'Service');
  expect(services.filter(({ metadata }) => matches(metadata.labels, matchLabels))).toEqual([service]);
  for (const { metadata } of pods(all))
    expect(matches(metadata.labels, service?.spec.selector ?? { none: true })).toBe(true);
  expect(service?.spec.ports).toEqual([{ name: 'operator', port: 9464, targetPort: 'operator' }]);
  expect(renderNotes(folder, { serviceMonitor: { enabled: true } })).toContain('ServiceMonitor bot');
  for (const { spec } of pods(all)) {
    expect(spec).toMatchObject({
      volumes: expect.arrayContaining([{ name: 'ca', secret: { secretName: 'company-ca' } }]),
      containers: [
        { volumeMounts: expect.arrayContaining([{ name: 'ca', mountPath: '/ca', readOnly: true }]) },
      ],
    });
    expect(spec.containers[0]?.env).toContainEqual({ name: 'NODE_EXTRA_CA_CERTS', value: '/ca/ca.crt' });
  }
});

test('the schema of values names every value, and no other', () => {
  const schema = JSON.parse(read('values.schema.json')) as Schema;
  const { global: _, ...named } = schema.properties ?? {};
  const compare = (value: unknown, { properties }: Schema, path: string): void => {
    if (!properties) return;
    expect([path, Object.keys(properties).toSorted()]).toEqual([
      path,
      Object.keys(value as object).toSorted(),
    ]);
    for (const [name, inner] of Object.entries(properties))
      compare((value as Record<string, unknown>)[name], inner, `${path}.${name}`);
  };
  compare(parse(read('values.yaml')), { properties: named }, '');
});

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
}
