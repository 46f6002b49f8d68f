import { z } from 'zod';
import { hostnameSecretFields, isSecretField, zoneSecretFields } from '../../secrets/fields.ts';
import { registerSecret } from '../../secrets/secret.ts';
import { isObject } from '../http/errors.ts';
import { count, flag, id, omitMissing, text, texts } from '../http/lenient.ts';
import { redactUrl } from '../http/paths.ts';

// An enumeration's number, which gets its name where it is shown. The service adds values at will.
export const number = z.number().int().nullish();
export const url = z.string().transform(redactUrl).nullish();
export const secret = z
  .unknown()
  .optional()
  .transform(() => undefined);

export const hostname = z
  .object({
    Id: id.nullish(),
    Value: text,
    ForceSSL: flag,
    IsSystemHostname: flag,
    IsManagedHostname: flag,
    HasCertificate: flag,
    Certificate: secret,
    CertificateKey: secret,
    CertificateKeyType: number,
    CertificateProvisionType: number,
  })
  .transform(omitMissing);

const action = z.object({
  ActionType: number,
  ActionParameter1: text,
  ActionParameter2: text,
  ActionParameter3: text,
});
const extraAction = action.transform((wire) => omitMissing(redactAction(wire)));

const trigger = z
  .object({ Type: number, PatternMatches: texts, PatternMatchingType: number, Parameter1: text })
  .transform((wire) => {
    const patterns = wire.PatternMatches ?? [];
    return { ...omitMissing(wire), PatternMatches: redactPatterns(wire.Type, wire.Parameter1, patterns) };
  });

export const edgeRule = z
  .object({
    Guid: text,
    ...action.shape,
    Triggers: z.array(trigger).nullish(),
    ExtraActions: z.array(extraAction).nullish(),
    TriggerMatchingType: number,
    Description: text,
    Enabled: flag,
    OrderIndex: count,
    ReadOnly: flag,
  })
  .transform((wire) => ({
    ...omitMissing(redactAction(wire)),
    Triggers: wire.Triggers ?? [],
    ExtraActions: wire.ExtraActions ?? [],
  }));
export type EdgeRule = z.output<typeof edgeRule>;

export const redactedValue = '[hidden]';

/** An image class of the optimizer, or a blueprint of AI images. The names of its properties are free, also those of secrets. */
export const namedProperties = z
  .object({
    Name: text,
    Properties: z
      .record(z.string(), text)
      .transform((all) =>
        Object.fromEntries(
          Object.entries(all).map(([name, value]) => [
            name,
            isSecretField(name, value) ? redactedValue : value,
          ]),
        ),
      )
      .nullish(),
  })
  .transform(omitMissing);

/** Actions whose parameters are the name and the value of a header. */
export const headerActions = new Set<unknown>([5, 6]);

/** Hides header values and credentials in the parameters of an action, and all of them where its meaning is unknown. */
function redactAction<T extends z.output<typeof action>>(wire: T): T {
  const { ActionType: type, ActionParameter1: first } = wire;
  const isHeader = headerActions.has(type);
  const isKnown = typeof type === 'number' && type >= 0 && type <= 37 && type !== 35 && type !== 36;
  const redact = (value: typeof first) => value && (isKnown && !isHeader ? redactUrl(value) : redactedValue);
  return {
    ...wire,
    // People also write `Name: value` into the name of a header.
    ActionParameter1: isHeader ? first?.split(':', 1)[0] : redact(first),
    ActionParameter2: redact(wire.ActionParameter2),
    ActionParameter3: redact(wire.ActionParameter3),
  };
}

/** Triggers by the value of a header. */
export const headerTriggers = new Set<unknown>([1, 2]);
const queryTrigger = 6;
const cookieTrigger = 10;
const lastKnownTrigger = 13;
// Headers that carry no secret. A rule on any other may compare it with a shared secret.
const plainHeaders = new Set(
  `accept accept-encoding accept-language access-control-request-method cache-control content-encoding content-length
  content-type host if-modified-since if-none-match origin range referer user-agent x-forwarded-for x-forwarded-proto
  x-requested-with`.split(/\s+/u),
);

/** The patterns of an edge rule's trigger. Values of cookies and of possibly secret headers are hidden. */
function redactPatterns(type: unknown, parameter: unknown, patterns: readonly string[]): string[] {
  const mayBeSecret =
    typeof type !== 'number' ||
    type > lastKnownTrigger ||
    type === cookieTrigger ||
    (headerTriggers.has(type) &&
      !(typeof parameter === 'string' && plainHeaders.has(parameter.trim().toLowerCase())));
  if (mayBeSecret) return patterns.map(() => redactedValue);
  if (type === queryTrigger) return patterns.map((pattern) => pattern.replaceAll(/=[^&]*/g, '=…'));
  return patterns.map(redactUrl);
}

/** Registers the keys of a raw zone with the running work, so that none of them leaves with an answer. */
export function registerZoneKeys(raw: unknown): void {
  if (!isObject(raw)) return;
  for (const name of zoneSecretFields) registerSecret(name, raw[name]);
  const hostnames = Array.isArray(raw['Hostnames']) ? raw['Hostnames'].filter(isObject) : [];
  for (const host of hostnames) for (const name of hostnameSecretFields) registerSecret(name, host[name]);
}
