import { z } from 'zod';
import { count, flag, id, text, texts, toCamelCase } from '../http/lenient.ts';
import { redactParameters, redactPatterns, redactUrl } from '../http/redact.ts';

// An enumeration's number, named by nameOf(enumerations…) where it is shown. The service adds values at will.
export const number = z.number().int().nullish();
export const url = z.string().transform(redactUrl).nullish();
/** A known member that is dropped. */
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
  .transform(toCamelCase);
export type Hostname = z.output<typeof hostname>;

const action = { ActionType: number, ActionParameter1: text, ActionParameter2: text, ActionParameter3: text };

interface Action {
  ActionType?: number | null | undefined;
  ActionParameter1?: string | null | undefined;
  ActionParameter2?: string | null | undefined;
  ActionParameter3?: string | null | undefined;
}

function redactRule<T extends Action>(rule: T): T {
  const parameters = [rule.ActionParameter1, rule.ActionParameter2, rule.ActionParameter3].map(
    (one) => one ?? undefined,
  );
  const [first, second, third] = redactParameters(rule.ActionType ?? undefined, parameters);
  return { ...rule, ActionParameter1: first, ActionParameter2: second, ActionParameter3: third };
}

const extraAction = z.object(action).transform((wire) => toCamelCase(redactRule(wire)));
export type EdgeRuleAction = z.output<typeof extraAction>;

const trigger = z
  .object({ Type: number, PatternMatches: texts, PatternMatchingType: number, Parameter1: text })
  .transform((wire) => {
    const patterns = redactPatterns(
      wire.Type ?? undefined,
      wire.Parameter1 ?? undefined,
      wire.PatternMatches ?? [],
    );
    return { ...toCamelCase(wire), patternMatches: patterns };
  });
export type EdgeRuleTrigger = z.output<typeof trigger>;

export const edgeRule = z
  .object({
    Guid: text,
    ...action,
    Triggers: z.array(trigger).nullish(),
    ExtraActions: z.array(extraAction).nullish(),
    TriggerMatchingType: number,
    Description: text,
    Enabled: flag,
    OrderIndex: count,
    ReadOnly: flag,
  })
  .transform((wire) => ({
    ...toCamelCase(redactRule(wire)),
    triggers: wire.Triggers ?? [],
    extraActions: wire.ExtraActions ?? [],
  }));
export type EdgeRule = z.output<typeof edgeRule>;

/** OptimizerClass and VendorAiImageBlueprint. */
export const namedProperties = z
  .object({ Name: text, Properties: z.record(z.string(), z.string()).nullish() })
  .transform(toCamelCase);
