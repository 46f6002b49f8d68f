import type { IncomingMessage, ServerResponse } from 'node:http';
import type { InstallProvider } from '@slack/oauth';
import { UserError } from '../../errors.ts';
import { minuteMs } from '../../lib/time.ts';
import { renderInstalled, renderNotInstalled } from '../../views/connect/page.ts';
import type { SlackDeps } from '../receive/perform.ts';
import { createRateLimit, findVisitor, throttleLog } from './limits.ts';
import * as pages from './page.ts';

export type InstallPages = ReturnType<typeof createInstallPages>;

const unknownReturn = 'It took more than ten minutes, or began in another browser.';

export function createInstallPages(
  installer: InstallProvider,
  publicUrl: string | undefined,
  { log, now }: Pick<SlackDeps, 'log' | 'now'>,
) {
  const headers = pages.pageHeaders(publicUrl);
  // A genuine return asks Slack.
  const returns = createRateLimit({ most: 20, perMs: minuteMs, maxKeys: 5_000, now });
  const { warn } = throttleLog(log, now);

  const isGenuine = async (query: URLSearchParams): Promise<boolean> => {
    if (!query.has('code')) return false;
    const state = query.get('state') ?? '';
    return installer.stateStore?.verifyStateParam(now(), state).then(Boolean, () => false) ?? false;
  };

  const show = (page: pages.Reply): pages.Reply => ({ ...page, headers: { ...headers, ...page.headers } });

  return {
    start: async (request: IncomingMessage, response: ServerResponse): Promise<undefined> => {
      const own = { ...headers, 'cache-control': 'no-store' };
      for (const [name, value] of Object.entries(own)) response.setHeader(name, value);
      await installer.handleInstallPath(request, response);
    },
    finish: async (request: IncomingMessage, response: ServerResponse): Promise<pages.Reply | undefined> => {
      const query = new URL(request.url ?? '', 'http://localhost').searchParams;
      if (query.has('error'))
        return show({ status: 200, body: renderNotInstalled('It was cancelled or refused in Slack.') });
      if (!(await isGenuine(query))) {
        warn({}, 'OAuth return refused: its state is not genuine');
        return show({ status: 400, body: renderNotInstalled(unknownReturn) });
      }
      const wait = returns.take(findVisitor(request.socket.remoteAddress));
      if (wait !== undefined) return show(pages.tooMany(wait));
      let reply: pages.Reply | undefined;
      await installer.handleCallback(request, response, {
        success({ team, enterpriseUrl, appId = '' }) {
          const next = team
            ? `https://slack.com/app_redirect?app=${appId}&team=${team.id}`
            : `${enterpriseUrl}manage/organization/apps/profile/${appId}/workspaces/add`;
          reply = show({ status: 200, body: renderInstalled(next) });
        },
        failure(error) {
          const isRefused = error instanceof UserError;
          const reason = isRefused
            ? error.message
            : 'Slack or the bot had a problem; the bot’s log says which.';
          reply =
            error.code === 'slack_oauth_invalid_state'
              ? show({ status: 400, body: renderNotInstalled(unknownReturn) })
              : show({ status: isRefused ? 403 : 500, body: renderNotInstalled(reason) });
        },
      });
      return reply;
    },
  };
}
