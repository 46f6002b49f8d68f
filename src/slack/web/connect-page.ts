import type { IncomingMessage } from 'node:http';
import { z } from 'zod';
import { isSecretLike } from '../../auth/audit/audit.ts';
import { type Person, tenantId } from '../../auth/identity.ts';
import {
  type KeyLink,
  type KeyLinks,
  type KeyPage,
  keyLinkMinutes,
  longestTokenDays,
  tokenShape,
} from '../../auth/keys/tokens.ts';
import { accessKey, checkKey, linkKey } from '../../commands/connect.ts';
import { UserError } from '../../errors.ts';
import { minuteMs } from '../../lib/time.ts';
import { hasSecret } from '../../secrets/key-in-text.ts';
import type { Secret } from '../../secrets/secret.ts';
import type { Message } from '../../views/blocks/blocks.ts';
import { pluralize } from '../../views/blocks/format.ts';
import { stripMarkup } from '../../views/blocks/text.ts';
import { type KeyProblem, renderConnectedOnPage } from '../../views/connect/connect.ts';
import * as views from '../../views/connect/page.ts';
import { explainFailure } from '../receive/failures.ts';
import type { SlackDeps } from '../receive/perform.ts';
import { createRateLimit, findVisitor, markVerified, throttleLog } from './limits.ts';
import * as pages from './page.ts';

type Needed =
  | 'access'
  | 'audit'
  | 'cdn'
  | 'clientTokens'
  | 'inFlight'
  | 'keyStore'
  | 'log'
  | 'now'
  | 'panel'
  | 'zoneCache';

interface ConnectPageOptions extends Pick<SlackDeps, Needed> {
  readonly publicUrl: string;
  readonly links: KeyLinks;
  readonly tell: (person: Person, message: Message) => Promise<void>;
}

export type ConnectPage = ReturnType<typeof createConnectPage>;

// Must be shorter than the lease of a link.
const checkMs = 30_000;

const failed = { kind: 'page', feature: 'connect' };

/** A name that looks like a key would be shown in Slack. */
const tokenFields = z.object({
  name: z
    .string()
    .trim()
    .min(1)
    .max(40)
    .refine((name) => !hasSecret(name) && !isSecretLike(name)),
  days: z.coerce.number().int().min(1).max(longestTokenDays),
});

const address = new RegExp(`^/connect/(?<token>${tokenShape})(?:/(?<step>client))?$`);

interface Visit {
  readonly token: string;
  readonly link: KeyLink;
  readonly form: string;
}

/** A GET changes nothing, since Slack and others fetch links for previews. Only the link decides whose key it is. */
export function createConnectPage(options: ConnectPageOptions) {
  const { links, log, now } = options;
  const keysAt = options.panel.keys;
  const base = options.publicUrl.replace(/\/+$/, '');
  const { origin } = new URL(base);
  const headers = pages.pageHeaders(base);
  // Guesses count by visitor, apart: behind a proxy a guesser must not lock out people with a link.
  const guesses = createRateLimit({ most: 20, perMs: minuteMs, maxKeys: 5_000, now });
  const visits = createRateLimit({ most: 60, perMs: minuteMs, maxKeys: 5_000, now });
  const { warn } = throttleLog(log, now);

  /** Neither a look-up nor a line in the log. */
  const refuseGuess = (request: IncomingMessage): pages.Reply => {
    warn({}, 'key page asked for a link that was never made');
    const wait = guesses.take(findVisitor(request.socket.remoteAddress));
    return wait === undefined ? pages.unknown : pages.tooMany(wait);
  };

  const visit = async (request: IncomingMessage, token: string, step?: string): Promise<pages.Reply> => {
    const wait = visits.take(token);
    if (wait !== undefined) return pages.tooMany(wait);
    const link = await links.find(token);
    if (!link) return pages.unknown;
    await options.access.token(link.person);
    if (!['GET', 'HEAD', 'POST'].includes(request.method ?? '')) return pages.methodNotAllowed;
    if (link.state !== 'open') return { status: 410, body: views.renderLinkEnded(link.state) };
    const here = { token, link, form: step === undefined ? token : `../${token}` };
    if (request.method === 'POST') {
      const fields = await pages.readPageForm(request, origin);
      if (typeof fields === 'string') return pages.refuse(fields, here.form);
      markVerified(request);
      return step === 'client' ? makeToken(here, fields) : submit(here, fields);
    }
    if (step !== 'client') return show(here);
    const about = { shownFor: link.shownFor, postTo: `${here.form}/client`, longestDays: longestTokenDays };
    return { status: 200, body: views.renderTokenForm(about) };
  };

  const show = ({ link, form }: Visit, problem?: KeyProblem, status = problem ? 422 : 200): pages.Reply => {
    const minutesLeft = Math.ceil((link.expiresAt.getTime() - now().getTime()) / minuteMs);
    const about = { shownFor: link.shownFor, postTo: form, minutesLeft, keysAt, problem };
    return { status, body: views.renderKeyForm(about) };
  };

  /** Shows the end of the link if it has ended. */
  const showCurrent = async (here: Visit, otherwise: (now: Visit) => pages.Reply): Promise<pages.Reply> => {
    const link = await links.find(here.token);
    if (!link) return pages.unknown;
    if (link.state !== 'open') return { status: 410, body: views.renderLinkEnded(link.state) };
    return otherwise({ ...here, link });
  };

  const submit = async (here: Visit, fields: URLSearchParams): Promise<pages.Reply> => {
    const typed = accessKey.safeParse(fields.get('accessKey') ?? '');
    if (!typed.success)
      return show(here, { message: typed.error.issues[0]?.message ?? 'Paste the key here.' });
    return options.inFlight.run((signal) => connect(here, typed.data, signal), here.link.person);
  };

  const connect = async (here: Visit, key: Secret, ending: AbortSignal): Promise<pages.Reply> => {
    const { person, shownFor } = here.link;
    const claim = await links.claim(here.token);
    if (!claim) return showCurrent(here, pages.checkingNow(here.form));
    const signal = AbortSignal.any([ending, AbortSignal.timeout(checkMs)]);
    const checked = await checkKey(key, {
      cdnWith: (candidate) => options.cdn.withKey(candidate, signal),
      explain: (error) => explainFailure(error, failed, log),
    });
    if (!checked.works) {
      const { refused, why } = checked;
      const left = await claim.release({ refused });
      if (refused && left === 0) {
        const about = { tenant: tenantId(person), actor: 'system', subject: person.userId };
        await options.audit.record({ ...about, event: 'key-entry-refused', detail: { entry: 'page' } });
      }
      const tries = refused ? `${pluralize(left, 'try', 'tries')} left on this page. ` : '';
      const problem = { message: stripMarkup(why.message), hint: tries + stripMarkup(why.hint ?? '') };
      return showCurrent(here, (current) => show(current, problem, refused ? 422 : 502));
    }
    // From here on the link is used up: it must never link two keys.
    if (!(await claim.accept())) return showCurrent(here, pages.checkingNow(here.form));
    const { fingerprint } = await linkKey(key, { ...options, person }, 'page');
    const { zones } = checked;
    await options.tell(person, renderConnectedOnPage({ fingerprint, zones })).catch((error: unknown) => {
      log.error({ error }, 'cannot send a direct message about a key page');
    });
    return { status: 200, body: views.renderKeyConnected(shownFor, { fingerprint, zones }) };
  };

  /** The link ends with its token, so that nobody who finds it later makes another. */
  const makeToken = async (here: Visit, fields: URLSearchParams): Promise<pages.Reply> => {
    const typed = tokenFields.safeParse(Object.fromEntries(fields)).data;
    const back = `${here.form}/client`;
    if (!typed)
      return pages.notice(422, 'Name it, and say how many days', 'Such as laptop, for 30 days.', back);
    const claim = await links.claim(here.token);
    if (!claim || !(await claim.accept())) return showCurrent(here, pages.checkingNow(here.form));
    const { person } = here.link;
    const token = await options.clientTokens.make(person, typed);
    if (token === undefined)
      return pages.notice(
        409,
        'No token was created',
        'You have ten already, or no key is connected. Type /cdn token in Slack.',
      );
    const about = { tenant: tenantId(person), actor: person.userId, subject: person.userId };
    await options.audit.record({ ...about, event: 'token-made', detail: { days: typed.days } });
    const body = views.renderTokenMade({ token, name: typed.name, at: `${base}/mcp` });
    return { status: 200, body, carries: ['client-token'] };
  };

  return {
    /** Answers everything below `/connect/`. Never rejects. */
    async handle(request: IncomingMessage, path: string): Promise<pages.Reply> {
      const { token = '', step } = address.exec(path)?.groups ?? {};
      const isGuess = !links.isToken(token);
      const visited = isGuess ? Promise.resolve(refuseGuess(request)) : visit(request, token, step);
      const page = await visited.catch((error: unknown) => {
        const { message, hint = '', reference } = explainFailure(error, failed, log);
        const text = `${stripMarkup(message)} ${stripMarkup(hint)} Reference ${reference}`;
        return pages.notice(error instanceof UserError ? 403 : 500, 'That did not work', text);
      });
      // The path is a secret and is never logged.
      if (page.status >= 400 && !isGuess) log.info({ status: page.status }, 'a key page refused something');
      // Its forms contain the token of the link.
      return {
        ...page,
        headers: { ...headers, ...page.headers },
        carries: ['link-token', ...(page.carries ?? [])],
      };
    },
    of: (person: Person, shownFor: string): KeyPage => ({
      async offer() {
        return { url: `${base}/connect/${await links.offer(person, shownFor)}`, minutes: keyLinkMinutes };
      },
      close: () => links.close(person),
    }),
  };
}
