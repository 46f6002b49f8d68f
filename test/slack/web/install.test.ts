import { expect, test } from 'vitest';
import { appId } from '../../../simulator/slack/payloads.ts';
import { Secret } from '../../../src/secrets/secret.ts';
import { createInstallationAccess, type Scope, scopes } from '../../../src/slack/installations.ts';
import { createLibraryLog } from '../../../src/slack/send/clients.ts';
import { createPublicUrl, useBot } from '../../support/bot.ts';
import { createMemoryLog } from '../../support/engines.ts';
import { fetchPage, type PageResponse } from '../../support/page-client.ts';
import { readStable } from '../../support/words.ts';

const env = await createPublicUrl();
const address = env.PUBLIC_URL;
const bot = await useBot({ transport: 'http', install: 'oauth', env }, []);

/** The first page of an installation: its cookie, and the address of Slack's page behind its link. */
async function begin(): Promise<{ page: PageResponse; cookie: string; slack: string }> {
  const page = await fetchPage(`${address}/slack/install`);
  const [cookie = ''] = [page.headers['set-cookie'] ?? []].flat();
  const slack = /href="([^"]+authorize[^"]*)"/.exec(page.html)?.[1]?.replaceAll('&amp;', '&') ?? '';
  return { page, cookie: cookie.split(';', 1)[0] ?? '', slack };
}

async function finish(slack: string, cookie: string): Promise<PageResponse> {
  const back = await fetch(slack, { redirect: 'manual' });
  return fetchPage(back.headers.get('location') ?? '', { headers: { cookie } });
}

const countLines = (): number => bot.logs.filter((line) => line.includes('OAuth return refused')).length;
const exchanges = (): number => bot.slack.calls.filter(({ method }) => method === 'oauth.v2.access').length;

test('every page of an installation has the headers of the page for keys, and none a secret', async () => {
  const { page, cookie, slack } = await begin();
  const pages = {
    first: page,
    cancelled: await finish(`${slack}&cancel=1`, cookie),
    'in another browser': await finish(`${slack}&team=T0ACME000`, 'slack-app-oauth-state=other'),
    done: await finish(`${slack}&team=T0ACME000`, cookie),
    'of an organization': await finish(`${slack}&team=${bot.slack.workspaces.corp.id}`, cookie),
    false: await fetchPage(`${address}/slack/oauth_redirect?code=x&state=y`),
  };
  const keyPage = await fetchPage(`${address}/connect/x`);
  const names = Object.keys(keyPage.headers).filter((name) => !/^(?:date|content-length)$/.test(name));
  for (const { headers, html } of Object.values(pages)) {
    for (const name of names) expect([name, headers[name]]).toEqual([name, keyPage.headers[name]]);
    expect(html).not.toMatch(/<script|http-equiv|<img/i);
  }
  expect(Object.entries(pages).map(([name, { status }]) => [name, status])).toEqual([
    ['first', 200],
    ['cancelled', 200],
    ['in another browser', 400],
    ['done', 200],
    ['of an organization', 200],
    ['false', 400],
  ]);
  const { host } = new URL(address);
  expect(
    Object.values(pages).map(({ text }) => readStable(text).replaceAll(host, '<host>')),
  ).toMatchSnapshot();
  expect(/href="(https:[^"]+)"/.exec(pages.done.html)?.[1]).toBe(
    `https://slack.com/app_redirect?app=${appId}&amp;team=T0ACME000`,
  );
});

test('the first page says what each scope is for, and what is lost without an optional one', async () => {
  const { page } = await begin();
  for (const [name, { use, lost, optional }] of Object.entries<Scope>(scopes)) {
    expect(page.text).toContain(name);
    expect(page.text).toContain(use.slice(1));
    expect(page.text.includes(lost)).toBe(optional === true);
  }
  expect(page.text).toContain(new URL(address).host);
  // The button comes last.
  expect(page.html.lastIndexOf('<h2>')).toBeLessThan(page.html.indexOf('class="button"'));
});

test('false returns ask neither Slack nor the database, and write one line a minute', async () => {
  const [calls, lines] = [exchanges(), countLines()];
  const answers = [];
  for (let nth = 0; nth < 50; nth += 1)
    answers.push((await fetchPage(`${address}/slack/oauth_redirect?code=${nth}&state=guess-${nth}`)).status);
  expect(new Set(answers)).toEqual(new Set([400]));
  expect(exchanges()).toBe(calls);
  expect(countLines() - lines).toBeLessThanOrEqual(1);
});

test('returns with a state of ours and false codes are limited, and Slack refuses each', async () => {
  const { cookie, slack } = await begin();
  const state = new URL(slack).searchParams.get('state') ?? '';
  const before = exchanges();
  const statuses = new Map<number, number>();
  for (let nth = 0; nth < 30; nth += 1) {
    const url = `${address}/slack/oauth_redirect?code=${nth}&state=${state}`;
    const { status } = await fetchPage(url, { headers: { cookie } });
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
  }
  expect(new Set(statuses.keys())).toEqual(new Set([429, 500]));
  expect(exchanges() - before).toBeLessThanOrEqual(22);
});

test('an app whose tokens expire is not installed, and the reason is said', async () => {
  const secret = new Secret('not-a-secret', 'slack-token');
  const stored: unknown[] = [];
  const { installer } = createInstallationAccess({
    installing: { kind: 'oauth', clientId: '1.2', clientSecret: secret, stateSecret: secret, allowed: [] },
    apiUrl: 'https://slack.com/api/',
    logger: createLibraryLog(createMemoryLog()),
    installations: {
      storeInstallation: async (one) => void stored.push(one),
      fetchInstallation: () => Promise.reject(new Error('none is stored')),
    },
  });
  const installation = {
    team: { id: 'T0ACME000' },
    enterprise: undefined,
    user: { id: 'U0ALICE00', token: undefined, scopes: undefined },
    isEnterpriseInstall: false,
    bot: { id: 'B0BOT0000', userId: 'U0BOT0000', token: 'bot-token', scopes: [], expiresAt: 1_795_000_000 },
  };
  const storing = installer?.installationStore.storeInstallation(installation);
  await expect(storing).rejects.toThrow('without token rotation');
  expect(stored).toEqual([]);
});
