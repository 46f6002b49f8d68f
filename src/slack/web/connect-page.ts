import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { CdnClient } from '../../api/cdn.ts';
import type { Audit } from '../../auth/audit/audit.ts';
import { type Person, tenantId } from '../../auth/identity.ts';
import type { KeyStore } from '../../auth/keys/key-store.ts';
import {
  createFormToken,
  isFormToken,
  type KeyLink,
  type KeyLinks,
  type KeyPage,
  keyLinkMinutes,
  tokenShape,
} from '../../auth/keys/links.ts';
import { accessKey, checkKey, linkKey } from '../../commands/connect.ts';
import type { ZoneCache } from '../../commands/zones/zone-cache.ts';
import { minuteMs } from '../../lib/time.ts';
import { allowSecrets, type Secret } from '../../secrets/secret.ts';
import type { Log } from '../../telemetry/log.ts';
import type { Message } from '../../views/blocks/message.ts';
import { pluralize, stripMarkup } from '../../views/blocks/text.ts';
import { renderConnectedOnPage, renderPageOffer } from '../../views/connect/connect.ts';
import * as views from '../../views/connect/page.ts';
import { explainFailure } from '../receive/failures.ts';
import type { InFlight } from '../receive/in-flight.ts';
import { createRateLimit, findVisitor } from './limits.ts';
import * as pages from './page.ts';

export interface ConnectPageOptions {
  /** Base of the pages `/connect/…`. */
  readonly publicUrl: string;
  readonly links: KeyLinks;
  readonly keyStore: KeyStore;
  readonly cdn: { withKey(key: Secret, signal?: AbortSignal): CdnClient };
  readonly zoneCache: ZoneCache;
  readonly audit: Audit;
  /** Sends a direct message. */
  readonly tell: (person: Person, message: Message) => Promise<void>;
  readonly inFlight: InFlight;
  readonly log: Log;
  readonly now: () => Date;
}

export interface ConnectPage {
  /** Answers everything below `/connect/`. Never throws. */
  handle(request: IncomingMessage, response: ServerResponse, path: string): Promise<void>;
  /** The page for one person, as commands use it. */
  of(person: Person, shownFor: string): KeyPage;
}

// Must be shorter than the lease of a link.
const checkMs = 30_000;

const failed = { kind: 'page', feature: 'connect' };

const address = new RegExp(`^/connect/(?<token>${tokenShape})(?<renew>/renew)?$`);

/** A request to the page of a known link. */
interface Visit {
  readonly token: string;
  readonly link: KeyLink;
  readonly request: IncomingMessage;
}

/**
 * The page where a person enters a key, so that it never passes Slack: a form behind a one-time link, without scripts
 * and cookies. Only the link decides whose key it is. A GET changes nothing, since Slack and others fetch links for
 * previews.
 */
export function createConnectPage(options: ConnectPageOptions): ConnectPage {
  const { links, log, now } = options;
  const base = options.publicUrl.replace(/\/+$/, '');
  const { origin, protocol } = new URL(base);
  const styleHash = `sha256-${createHash('sha256').update(views.style).digest('base64')}`;
  const headers = pages.pageHeaders({ https: protocol === 'https:', styleHash });
  // Only visits to unknown or used links count by visitor: behind a proxy all visitors have one address, and a guesser
  // must not lock out people with a good link.
  const wrongByVisitor = createRateLimit({ burst: 20, perMinute: 20, maxKeys: 5_000, now });
  const wrongInTotal = createRateLimit({ burst: 300, perMinute: 300, maxKeys: 1, now });
  const openLink = createRateLimit({ burst: 60, perMinute: 60, maxKeys: 5_000, now });

  const linkOf = (token: string): string => `${base}/connect/${token}`;
  const offered = (token: string): Message =>
    renderPageOffer({ url: linkOf(token), minutes: keyLinkMinutes });

  const visit = async (request: IncomingMessage, path: string): Promise<pages.Page> => {
    const { token, renew } = address.exec(path)?.groups ?? {};
    const link = token === undefined ? undefined : await links.find(token);
    if (token === undefined || !link || link.state !== 'open') {
      const wait =
        wrongByVisitor.take(findVisitor(request.socket.remoteAddress)) ?? wrongInTotal.take('everybody');
      if (wait !== undefined) return pages.tooMany(wait);
    }
    if (token === undefined || !link) return pages.unknown;
    const wait = openLink.take(link.id);
    if (wait !== undefined) return pages.tooMany(wait);
    const here = { token, link, request };
    if (request.method === 'POST') return renew === undefined ? submit(here) : sendNewLink(here);
    if (request.method === 'GET' || request.method === 'HEAD')
      return show(here, undefined, renew !== undefined);
    return pages.methodNotAllowed;
  };

  const show = (
    { token, link }: Pick<Visit, 'token' | 'link'>,
    problem?: views.PageProblem,
    below = false,
    status = problem ? 422 : 200,
  ): pages.Page => {
    const formToken = createFormToken(token);
    if (link.state !== 'open') {
      const renewAt = below ? 'renew' : `${token}/renew`;
      return { status: 410, html: views.renderLinkEnded({ state: link.state, formToken, renewAt }) };
    }
    const minutesLeft = Math.ceil((link.expiresAt.getTime() - now().getTime()) / minuteMs);
    const postTo = below ? `../${token}` : token;
    return {
      status,
      html: views.renderKeyForm({ shownFor: link.shownFor, formToken, minutesLeft, postTo, problem }),
    };
  };

  /** The fields of a form sent by this link's page, or the page that refuses it. */
  const fieldsOf = async ({ token, request }: Visit, back: string): Promise<URLSearchParams | pages.Page> => {
    const fields = await pages.readPageForm(request, origin);
    if (typeof fields === 'string') return pages.refuse(fields, back);
    return isFormToken(token, fields.get('formToken') ?? '') ? fields : pages.refuse('cross-site', back);
  };

  const submit = async (here: Visit): Promise<pages.Page> => {
    if (here.link.state !== 'open') return show(here);
    const fields = await fieldsOf(here, here.token);
    if ('status' in fields) return fields;
    const typed = accessKey.safeParse(fields.get('accessKey') ?? '');
    if (!typed.success)
      return show(here, { message: typed.error.issues[0]?.message ?? 'Paste the key here.' });
    return options.inFlight.run((signal) => connect(here, typed.data, signal));
  };

  const connect = async (here: Visit, key: Secret, ending: AbortSignal): Promise<pages.Page> => {
    const { person, shownFor } = here.link;
    const claim = await links.claim(here.token);
    if (!claim) return showCurrent(here, pages.checkingNow(here.token));
    let refused = false;
    let held = true;
    try {
      const signal = AbortSignal.any([ending, AbortSignal.timeout(checkMs)]);
      const checked = await checkKey(key, {
        cdnWith: (candidate) => options.cdn.withKey(candidate, signal),
        explain: (error) => explainFailure(error, failed, log),
      });
      if (!checked.works) {
        refused = checked.refused;
        held = false;
        const left = await claim.release({ refused });
        if (refused && left === 0) await recordRefused(person);
        const tries = refused ? `${pluralize(left, 'try', 'tries')} left on this page. ` : '';
        const problem = {
          message: stripMarkup(checked.why.message),
          hint: tries + stripMarkup(checked.why.hint),
        };
        return await showCurrent(here, (link) =>
          show({ ...here, link }, problem, false, refused ? 422 : 502),
        );
      }
      // From here on the link is used up: it must never link two keys.
      if (!(await claim.accept())) return await showCurrent(here, pages.checkingNow(here.token));
      held = false;
      const { fingerprint } = await linkKey(key, { ...options, person }, 'page');
      await tell(person, renderConnectedOnPage({ fingerprint, zones: checked.zones }));
      return { status: 200, html: views.renderKeyConnected({ shownFor, fingerprint, zones: checked.zones }) };
    } finally {
      if (held) await claim.release({ refused });
    }
  };

  /** Reads the link again: shows its end if it has ended, else `otherwise`. */
  const showCurrent = async (here: Visit, otherwise: (link: KeyLink) => pages.Page): Promise<pages.Page> => {
    const link = await links.find(here.token);
    if (!link) return pages.unknown;
    return link.state === 'open' ? otherwise(link) : show({ ...here, link });
  };

  const sendNewLink = async (here: Visit): Promise<pages.Page> => {
    const fields = await fieldsOf(here, `../${here.token}`);
    if ('status' in fields) return fields;
    if (here.link.state === 'open') return pages.stillWorks(here.token);
    const renewed = await links.renew(here.token);
    if (!renewed) return pages.alreadyRenewed;
    if (await tell(renewed.person, offered(renewed.token)))
      return { status: 200, html: views.renderLinkRenewed() };
    return pages.notice(502, 'The message could not be sent', 'Slack did not take it.');
  };

  /** Whether Slack accepted the message. The page answers in either case. */
  const tell = async (person: Person, message: Message): Promise<boolean> => {
    try {
      await options.tell(person, message);
      return true;
    } catch (error) {
      log.error({ error }, 'cannot send a direct message about a key page');
      return false;
    }
  };

  const recordRefused = (person: Person): Promise<void> =>
    options.audit.record({
      tenant: tenantId(person),
      actor: 'system',
      event: 'key-entry-refused',
      subject: person.userId,
      detail: { entry: 'page' },
    });

  return {
    async handle(request, response, path) {
      let page: pages.Page;
      try {
        page = await visit(request, path);
      } catch (error) {
        const { message, hint, reference } = explainFailure(error, failed, log);
        page = pages.notice(
          500,
          'That did not work',
          `${stripMarkup(message)} ${stripMarkup(hint ?? '')} Reference ${reference}`,
        );
      }
      // The path is a secret and is never logged.
      if (page.status >= 400) log.info({ status: page.status }, 'a key page refused something');
      // Its forms contain the token of the link.
      allowSecrets(['link-token'], () => pages.sendPage(request, response, page, headers));
    },
    of: (person, shownFor) => ({
      async offer() {
        const { token } = await links.offer(person, shownFor);
        return { url: linkOf(token), minutes: keyLinkMinutes };
      },
      close: () => links.close(person),
    }),
  };
}
