import type { Zone } from '../api/zone.ts';
import { enumeration, factLines, listed, onOff, switches, whole, words } from './facts.ts';
import { code, foreign } from './text.ts';

/** How it asks its origin, and what it does when that fails. */
export function origin(zone: Zone): string[] {
  return [
    ...factLines([
      ['Host header', words(zone.originHostHeader)],
      ['Connection', zone.originLinkValue ? code(zone.originLinkValue, 100) : undefined],
      ['Retries', retries(zone)],
      ['Timeouts', timeouts(zone)],
      ['Sticky sessions', stickySessions(zone)],
      ['Routing filters', zone.routingFilters?.length ? listed(zone.routingFilters) : undefined],
      ['WebSockets', webSockets(zone)],
    ]),
    ...switches([
      ['hostname forwarded', zone.addHostHeader],
      ['redirects followed', zone.followRedirects],
      ['canonical header', zone.addCanonicalHeader],
      ['retry on 5xx', zone.originRetry5XXResponses],
      ['retry when connecting fails', zone.originRetryConnectionTimeout],
      ['retry when the response is late', zone.originRetryResponseTimeout],
      ['safe hop', zone.enableSafeHop],
    ]),
  ];
}

/** What visitors see beside the content: error pages and the preloading screen. */
export function pages(zone: Zone): string[] {
  return [
    ...factLines([
      ['Error page code', length(zone.errorPageCustomCode)],
      ['Status page', words(zone.errorPageStatuspageCode)],
      ['Preloading screen', preloading(zone)],
      ['Its code', length(zone.preloadingScreenCode)],
      ['Its logo', zone.preloadingScreenLogoUrl ? code(zone.preloadingScreenLogoUrl, 100) : undefined],
    ]),
    ...switches([
      ['custom error page', zone.errorPageEnableCustomCode],
      ['status page widget', zone.errorPageEnableStatuspageWidget],
      ['white label', zone.errorPageWhitelabel],
      ['preloading on the first visit', zone.preloadingScreenShowOnFirstVisit],
      ['own preloading code', zone.preloadingScreenCodeEnabled],
    ]),
  ];
}

/** Who pays how much, and what belongs to it at the platform. */
export function account(zone: Zone): string[] {
  return factLines([
    ['Owner', words(zone.userId)],
    // $/byte: too small a number to be read as money.
    ['Own price', zone.priceOverride ? `$${zone.priceOverride} per byte` : undefined],
    ['Discounts', discounts(zone)],
    ['CNAME domain', words(zone.cnameDomain)],
    ['DNS', dns(zone)],
    ['Video library', words(zone.videoLibraryId)],
    ['App endpoint', words(zone.magicContainersEndpointId)],
    ['Cache version', whole(zone.cacheVersion)],
  ]);
}

function retries(zone: Zone): string | undefined {
  if (zone.originRetries === undefined) return undefined;
  return zone.originRetryDelay
    ? `${zone.originRetries}, ${zone.originRetryDelay} s apart`
    : `${zone.originRetries}`;
}

function timeouts(zone: Zone): string | undefined {
  const both = factLines([
    ['connect', whole(zone.originConnectTimeout, ' s')],
    ['response', whole(zone.originResponseTimeout, ' s')],
  ]);
  return both.length > 0 ? both.join(', ') : undefined;
}

function webSockets(zone: Zone): string | undefined {
  const state = onOff(zone.enableWebSockets);
  return zone.enableWebSockets && zone.maxWebSocketConnections
    ? `${state}, at most ${whole(zone.maxWebSocketConnections)}`
    : state;
}

function stickySessions(zone: Zone): string | undefined {
  const how = factLines([
    ['cookie', words(zone.stickySessionCookieName, 60)],
    ['headers', words(zone.stickySessionClientHeaders, 100)],
  ]);
  const state = enumeration('StickySessionType', zone.stickySessionType);
  return [state, ...how].filter(Boolean).join(', ') || undefined;
}

function preloading(zone: Zone): string | undefined {
  return (
    [
      onOff(zone.preloadingScreenEnabled),
      enumeration('PreloadingScreenTheme', zone.preloadingScreenTheme),
      zone.preloadingScreenDelay === undefined
        ? undefined
        : `after ${whole(zone.preloadingScreenDelay, ' ms')}`,
    ]
      .filter(Boolean)
      .join(', ') || undefined
  );
}

function discounts(zone: Zone): string | undefined {
  const all = factLines([
    ['EU and US', discount(zone.euusDiscount)],
    ['South America', discount(zone.southAmericaDiscount)],
    ['Africa', discount(zone.africaDiscount)],
    ['Asia and Oceania', discount(zone.asiaOceaniaDiscount)],
  ]);
  return all.length > 0 ? all.join(', ') : undefined;
}

/** Its unit is not specified. None is nothing to read. */
function discount(value: number | undefined): string | undefined {
  return value === 0 ? undefined : whole(value);
}

function dns(zone: Zone): string | undefined {
  const all = factLines([
    ['zone', words(zone.dnsZoneId)],
    ['record', words(zone.dnsRecordId)],
    ['value', words(zone.dnsRecordValue)],
  ]);
  return all.length > 0 ? all.join(', ') : undefined;
}

/** Code that somebody wrote for a web page is nothing to read in a chat. The file has it. */
function length(written: string | undefined): string | undefined {
  return written ? foreign(`${whole(written.length)} characters`) : undefined;
}
