import { getCACertificates } from 'node:tls';

/** A value without spaces and quotes around it: `docker --env-file` and Kubernetes pass on the quotes of an env file. */
export function unquote(value: string): string | undefined {
  const text = value.trim();
  const [, unquoted = text] = /^(["'])(.*)\1$/su.exec(text)?.slice(1) ?? [];
  return unquoted.trim() || undefined;
}

const readByLibraries = /^PG[A-Z]+$|^OTEL_|_PROXY$/iu;

/** Takes the quotes off what libraries read by themselves, such as PGSSLMODE: the driver takes a value that it does not know for none. */
export function takeOffQuotes(env: NodeJS.ProcessEnv): void {
  for (const [name, value = ''] of Object.entries(env)) {
    const unquoted = unquote(value);
    if (!readByLibraries.test(name) || unquoted === value) continue;
    if (unquoted === undefined) delete env[name];
    else env[name] = unquoted;
  }
}

/** What is wrong with a private CA: Node reads its file before --env-file, and goes on without one that it cannot read. */
export function findAuthorityProblem(env: NodeJS.ProcessEnv): string | undefined {
  const path = env['NODE_EXTRA_CA_CERTS'];
  if (!path || getCACertificates('extra').length > 0) return undefined;
  return `NODE_EXTRA_CA_CERTS names ${path}, but Node took no certificate from it. Set the variable in the environment of the process (export, not --env-file), and check that the file holds certificates (PEM).`;
}
