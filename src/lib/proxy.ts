import type { Dispatcher } from 'undici';
import { UserError } from '../errors.ts';

/** The proxy of this network, as the environment names it (`HTTPS_PROXY`, `HTTP_PROXY`, `NO_PROXY`, in either case). */
export interface ProxySettings {
  readonly http: string | undefined;
  readonly https: string | undefined;
  readonly exceptions: string;
}

export function readProxySettings(
  env: Readonly<Record<string, string | undefined>>,
): ProxySettings | undefined {
  const read = (name: string): string | undefined =>
    (env[name.toLowerCase()] ?? env[name])?.trim() || undefined;
  const readAddress = (name: string): string | undefined => {
    const value = read(name);
    if (value === undefined) return undefined;
    // `proxy.example:3128`, as curl takes it.
    const address = value.includes('://') ? value : `http://${value}`;
    const isAddress = /^https?:$/u.test(URL.parse(address)?.protocol ?? '');
    if (!isAddress)
      throw new UserError(`${name} is not an address.`, 'Write it as http://proxy.example:3128.');
    return address;
  };
  const ofHttp = readAddress('HTTP_PROXY');
  const ofHttps = readAddress('HTTPS_PROXY');
  if (ofHttp === undefined && ofHttps === undefined) return undefined;
  return { http: ofHttp, https: ofHttps, exceptions: read('NO_PROXY') ?? '' };
}

let current: ProxySettings | undefined;
let dispatcher: Dispatcher | undefined;

/** Sends everything of this thread through the proxy. The returned function undoes it. */
export async function useProxy(settings: ProxySettings): Promise<() => void> {
  const { EnvHttpProxyAgent, getGlobalDispatcher, setGlobalDispatcher } = await import('undici');
  const before = { ofProcess: getGlobalDispatcher(), dispatcher, current };
  const { http: httpProxy = '', https: httpsProxy = '', exceptions: noProxy } = settings;
  dispatcher = new EnvHttpProxyAgent({ httpProxy, httpsProxy, noProxy });
  setGlobalDispatcher(dispatcher);
  current = settings;
  return () => {
    setGlobalDispatcher(before.ofProcess);
    ({ current, dispatcher } = before);
  };
}

/** For a thread that this one starts. */
export function getProxySettings(): ProxySettings | undefined {
  return current;
}

/** For clients of undici that do not use the dispatcher of the whole thread. */
export function findProxyDispatcher(): Dispatcher | undefined {
  return dispatcher;
}

/** The proxy on the way to an address, as `host:port`; undefined where it is reached directly. */
export function findProxy(address: string | URL, settings = current): string | undefined {
  const { protocol, hostname, port } = new URL(address);
  const isSecure = protocol === 'https:' || protocol === 'wss:';
  const proxy = isSecure ? settings?.https : settings?.http;
  if (!settings || proxy === undefined) return undefined;
  const isException = settings.exceptions.split(/[,\s]+/u).some((entry) => {
    const [, name = '', only] = /^(.+?)(?::(\d+))?$/u.exec(entry) ?? [];
    if (name === '*') return true;
    const host = name.replace(/^\*?\./u, '').toLowerCase();
    if (host === '' || (only !== undefined && only !== (port || (isSecure ? '443' : '80')))) return false;
    return hostname === host || hostname.endsWith(`.${host}`);
  });
  return isException ? undefined : new URL(proxy).host;
}
