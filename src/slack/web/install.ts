import type { IncomingMessage, ServerResponse } from 'node:http';
import type { InstallProvider } from '@slack/oauth';
import { UserError } from '../../errors.ts';
import { renderInstalled, renderNotInstalled } from '../../views/connect/install.ts';
import { oncePerMinute, type SlackDeps } from '../receive/authorize.ts';
import { createRateLimit, findVisitor } from './limits.ts';
import * as pages from './page.ts';

export type InstallPages = ReturnType<typeof createInstallPages>;

const unknownReturn = 'It took more than ten minutes, or began in another browser.';

/** The pages of an installation by OAuth: ours before and after Slack's. */
export function createInstallPages(
  installer: InstallProvider,
  publicUrl: string | undefined,
  { log, now }: Pick<SlackDeps, 'log' | 'now'>,
) {
  const headers = pages.pageHeaders(publicUrl);
  // A return with a genuine state asks Slack, and its failure is logged.
  const returns = createRateLimit({ burst: 20, perMinute: 20, maxKeys: 5_000, now });
  const shouldLog = oncePerMinute(now);

  const isGenuine = async (query: URLSearchParams): Promise<boolean> => {
    if (!query.has('code')) return false;
    const state = query.get('state') ?? '';
    return installer.stateStore?.verifyStateParam(now(), state).then(Boolean, () => false) ?? false;
  };

  return {
    start: async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
      for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
      await installer.handleInstallPath(request, response);
    },
    finish: async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
      const send = (page: pages.Page): void => pages.sendPage(request, response, page, headers);
      const query = new URL(request.url ?? '', 'http://localhost').searchParams;
      if (query.has('error'))
        return send({ status: 200, html: renderNotInstalled('It was cancelled or refused in Slack.') });
      if (!(await isGenuine(query))) {
        if (shouldLog('false return'))
          log.warn({}, 'OAuth return refused: its state is not genuine (logged once a minute)');
        return send({ status: 400, html: renderNotInstalled(unknownReturn) });
      }
      const wait = returns.take(findVisitor(request.socket.remoteAddress));
      if (wait !== undefined) return send(pages.tooMany(wait));
      await installer.handleCallback(request, response, {
        success({ team, enterpriseUrl, appId = '' }) {
          const next = team
            ? `https://slack.com/app_redirect?app=${appId}&team=${team.id}`
            : `${enterpriseUrl}manage/organization/apps/profile/${appId}/workspaces/add`;
          send({ status: 200, html: renderInstalled(next) });
        },
        failure(error) {
          if (error.code === 'slack_oauth_invalid_state')
            return send({ status: 400, html: renderNotInstalled(unknownReturn) });
          const isRefused = error instanceof UserError;
          const reason = isRefused
            ? error.message
            : 'Slack or the bot had a problem, and its log says which.';
          send({ status: isRefused ? 403 : 500, html: renderNotInstalled(reason) });
        },
      });
    },
  };
}
