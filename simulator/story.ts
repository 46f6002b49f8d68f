import { makeCertificate } from './cdn/certificates.ts';
import type { OriginErrorEntry } from './cdn/model.ts';
import type { CdnSimulator } from './cdn/server.ts';
import type { PullZone } from './cdn/zone-fields.ts';
import type { SlackSimulator } from './slack/server.ts';

const minute = 60_000;
const day = 24 * 60 * minute;
const [alice, bob, carol, dave] = ['U0ALICE00', 'U0BOB0000', 'U0CAROL00', 'U0DAVE000'] as const;
const [ops, deploys] = ['C0OPS0000', 'C0DEPLOY0'] as const;

/** How long before the start the zone got its new origin. */
const changedMs = 31 * minute;

/** A hint on the page. It goes away once it was followed. */
export interface Hint {
  readonly text: string;
  readonly isFollowed: (did: readonly string[]) => boolean;
}

/** What happens in the playground: an outage that goes on, and people whose roles are those they are labelled with. */
export interface Story {
  readonly hints: readonly Hint[];
  /** The bot's clock: some of the story was before the start. */
  readonly now: () => Date;
  /** Has people act in Slack. The bot must be running. */
  tell(slack: SlackSimulator): Promise<void>;
  end(): void;
}

/** Sets the scene in the CDN. */
export function createStory(cdn: CdnSimulator): Story {
  const { data } = cdn;
  const startedAt = Date.now();
  let past = 0;
  let timer: NodeJS.Timeout | undefined;
  // Copies: zones of a large world are frozen.
  const [shop, assets] = ['shop', 'assets'].map((name) => {
    const at = data.zones.findIndex(({ Name }) => Name === name);
    const zone = structuredClone(data.zones[at]);
    if (!zone) throw new Error(`the story needs the zone ${name}`);
    data.zones[at] = zone;
    return zone;
  }) as [PullZone, PullZone];
  const hostname = assets.Hostnames?.find((one) => !one.IsSystemHostname);
  const origins = { before: 'https://origin-shop.example.com', after: 'https://origin-shop-v2.example.com' };
  Object.assign(shop, { OriginUrl: origins.after, OriginType: 0, OriginLinkValue: null, StorageZoneId: -1 });
  if (hostname) hostname.Certificate = makeCertificate(hostname.Value ?? '', new Date(startedAt + 9 * day));

  let number = 0;
  const fail = (at: number, error: (typeof errors)[keyof typeof errors]): void => {
    const key = `${shop.Id}/${new Date(at).toISOString().slice(0, 10)}`;
    const entries = data.originErrors.entries.get(key) ?? [];
    data.originErrors.entries.set(key, entries);
    entries.push(makeEntry(shop.Id, at, (number += 1), error));
  };
  // Now and then somebody waits too long: two days of it, so that there is something to compare with.
  for (let at = startedAt - 2 * day; at < startedAt; at += 3 * 60 * minute + 7 * minute)
    fail(at, errors.timeout);
  // Then every request that is not cached, more of them while people reload.
  for (let at = startedAt - changedMs + minute; at < startedAt; at += 7_000) fail(at, errors.dns);

  return {
    hints: [
      {
        text: 'Something is wrong in #ops. Ask `/cdn why is shop failing`',
        isFollowed: (did) => did.some((words) => /\bshop failing|^(?:\/cdn )?errors\b|^zone=/u.test(words)),
      },
      {
        text: 'Change person at the top left. As Bob type `/cdn volume delete app0worker00002 old-cache`, as Carol approve it in #deploys',
        isFollowed: () => data.volumeDeletions.length > 0,
      },
      {
        text: `Connect another key: \`/cdn connect\`, and paste \`${cdn.key}\``,
        // Until then people have the other one.
        isFollowed: () => cdn.requests.some(({ key }) => key === 'full'),
      },
    ],
    now: () => new Date(Date.now() - past),
    async tell(slack) {
      timer = setInterval(() => fail(Date.now(), errors.dns), 10_000);
      // Told before, and kept.
      if (
        slack
          .as(alice, ops)
          .messages()
          .some(({ bot }) => bot)
      )
        return;
      shop.OriginUrl = origins.before;
      past = changedMs + 20 * minute;
      try {
        await nameRoles(slack);
        for (const person of [alice, bob, carol, dave]) await connect(slack, person, cdn.restrictedKey);
        await setVariable(slack);
        // Everybody has a history of their own: what their key saw.
        for (const person of [alice, bob]) await compareSettings(slack, person);
        past = changedMs;
        shop.OriginUrl = origins.after;
        for (const person of [alice, bob]) await compareSettings(slack, person);
      } finally {
        past = 0;
        shop.OriginUrl = origins.after;
      }
      await raiseAlert(slack, 'errors', shop);
      await raiseAlert(slack, 'certificate ends', assets);
    },
    end: () => clearInterval(timer),
  };
}

const errors = {
  dns: { code: 'dns_lookup', status: 502, message: 'Origin DNS lookup failed' },
  timeout: { code: 'http_timeout', status: 504, message: 'Origin did not answer within 60 seconds' },
} as const;
const places = ['DE', 'DE', 'NY', 'DE', 'SG', 'NY', 'JH'] as const;
const paths = ['/cart', '/', '/api/orders?page=2', '/search?q=red+shoes'] as const;

function makeEntry(
  zoneId: number,
  timestamp: number,
  nth: number,
  { code, status, message }: (typeof errors)[keyof typeof errors],
): OriginErrorEntry {
  const log = {
    RequestUrl: paths[nth % paths.length],
    PullZoneId: zoneId,
    Message: message,
    ErrorCode: code,
    StatusCode: status,
  };
  return {
    logId: `5709e000-0000-4000-8000-${String(nth).padStart(12, '0')}`,
    timestamp,
    log: JSON.stringify(log),
    labels: { ErrorCode: code, StatusCode: String(status), ServerZone: places[nth % places.length] ?? 'DE' },
  };
}

async function nameRoles(slack: SlackSimulator): Promise<void> {
  const admin = slack.as(alice, ops);
  for (const [section, values] of [
    ['people', { operators: [bob], approvers: [carol] }],
    ['approvals', { approvalChannel: deploys }],
  ] as const) {
    await admin.slash(`settings ${section}`);
    await admin.waitForModal('settings:submit');
    await admin.submit(values);
    await admin.waitForModal('settings:done');
    while (admin.modal()) await admin.closeModal();
  }
}

/** In the form, or on the bot's own page where it has one. */
async function connect(slack: SlackSimulator, userId: string, accessKey: string): Promise<void> {
  const person = slack.as(userId, ops);
  const known = person.messages().length;
  await person.slash('connect');
  const link = await Promise.any([
    person.waitForModal('connect:submit').then(() => undefined),
    person
      .waitForMessage(
        (message) =>
          message.ephemeral && findLink(message.blocks) !== undefined && person.messages().length > known,
      )
      .then(({ blocks }) => findLink(blocks)),
  ]);
  if (link === undefined) {
    await person.submit({ accessKey });
    await person.waitForModal(({ callback_id: id }) => id !== 'connect:submit');
    while (person.modal()) await person.closeModal();
    return;
  }
  const answer = await fetch(link, {
    method: 'POST',
    headers: { origin: new URL(link).origin, 'sec-fetch-site': 'same-origin' },
    body: new URLSearchParams({ accessKey }),
  });
  if (!answer.ok) throw new Error(`the page for keys answered ${answer.status}`);
}

function findLink(blocks: unknown): string | undefined {
  return /http[^"]*\/connect\/[\w-]+/u.exec(JSON.stringify(blocks))?.[0];
}

async function compareSettings(slack: SlackSimulator, userId: string): Promise<void> {
  const person = slack.as(userId, ops);
  const known = person.messages().length;
  await person.slash('changes');
  await person.waitForMessage(
    ({ reads }) => reads.includes('compared') && reads === person.messages()[known]?.reads,
    20_000,
  );
}

/** From then on the name of the variable is known. */
async function setVariable(slack: SlackSimulator): Promise<void> {
  const operator = slack.as(bob, ops);
  await operator.slash('variable 301 12');
  await operator.waitForModal('variables:submit');
  await operator.submit({ defaultValue: 'on' });
  await operator.waitForModal(
    ({ callback_id: id, reads }) => id !== 'variables:submit' && reads.includes('FEATURE_X'),
  );
  while (operator.modal()) await operator.closeModal();
}

/** Bob has an alert in #ops, which fires. */
async function raiseAlert(slack: SlackSimulator, about: string, zone: PullZone): Promise<void> {
  const owner = slack.as(bob, ops);
  await owner.slash(`alert new ${about}`);
  await owner.waitForModal('alerts:submit');
  await owner.suggest('target:zones', zone.Name ?? '');
  await owner.choose('target:zones', [String(zone.Id)]);
  await owner.submit();
  const { reads } = await owner.waitForModal('alerts:done');
  while (owner.modal()) await owner.closeModal();
  const id = /(?<=Alert )\w{5}/u.exec(reads)?.[0] ?? '';
  const known = owner.messages().filter(({ ephemeral }) => !ephemeral).length;
  await owner.slash(`alert check ${id}`);
  await owner.waitForMessage(
    () => owner.messages().filter(({ ephemeral }) => !ephemeral).length > known,
    20_000,
  );
}
