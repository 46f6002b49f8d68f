import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  diffSettings,
  mergeSettings,
  ruleOrder,
  type Setting,
  type SettingChange,
  type ZoneSettings,
} from '../../../src/api/zones/settings.ts';
import { packSettings, unpackSettings } from '../../../src/commands/zones/history.ts';
import type { Json } from '../../../src/lib/canonical-json.ts';

const texts = fc
  .uniqueArray(fc.string({ minLength: 1, maxLength: 3 }), { maxLength: 4 })
  .map((all) => all.sort());
const value: fc.Arbitrary<Setting> = fc.oneof(
  fc
    .oneof(fc.boolean(), fc.integer(), fc.string({ minLength: 1 }), fc.constant(null))
    .map((one): Setting => [one]),
  texts.map((all): Setting => [all.length === 0 ? null : all]),
  fc.nat(3).map((nth): Setting => ['set', `label.${nth}`]),
);
const names = ['EnableTLS1', 'BlockedIps', 'OriginUrl', 'ZoneSecurityKey'];
const group = fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd'), value, { noNullPrototype: true });
const state: fc.Arbitrary<ZoneSettings> = fc
  .record({
    members: fc.dictionary(fc.constantFrom(...names), value, { noNullPrototype: true }),
    groups: fc.record({ Hostnames: group, EdgeRules: group }, { requiredKeys: [], noNullPrototype: true }),
  })
  .map(({ members, groups }) => {
    const things = Object.entries(groups).flatMap(([name, elements]): [string, Setting][] => [
      [name, [null]],
      ...Object.entries(elements).map(([key, one]): [string, Setting] => [`${name}/${key}`, one]),
    ]);
    return { id: '1', name: 'shop', settings: { ...members, ...Object.fromEntries(things) } };
  });

type Values = Record<string, Json>;

/** The told values by path, without those that are none. */
function valuesOf({ settings }: ZoneSettings): Values {
  return Object.fromEntries(
    Object.entries(settings).flatMap(([path, [told]]) => (told === null ? [] : [[path, told]])),
  );
}

function isList(one: Json): one is readonly string[] {
  return Array.isArray(one);
}

function apply(values: Values, { path, before, after }: SettingChange): Values {
  const { [path]: was = null, ...rest } = values;
  const lists =
    [before, after].every((one) => one === null || isList(one)) && (isList(before) || isList(after));
  const [left, came] = [before ?? [], after ?? []] as [string[], string[]];
  const next = lists
    ? [...(isList(was) ? was : []).filter((one) => !left.includes(one)), ...came].toSorted((a, b) =>
        a < b ? -1 : 1,
      )
    : after;
  const isNone = next === null || (isList(next) && next.length === 0);
  return isNone ? rest : { ...rest, [path]: next };
}

test('the changes of any sequence of states, applied to the first one, give the last', () => {
  fc.assert(
    fc.property(fc.array(state, { minLength: 1, maxLength: 6 }), ([start, ...rest]) => {
      let stored = start as ZoneSettings;
      let values = valuesOf(stored);
      for (const next of rest) {
        // A member that was never reported comes in without being a change.
        const changes = diffSettings(stored, next);
        const merged = unpackSettings(packSettings(mergeSettings(stored, next))) as ZoneSettings;
        for (const change of changes) values = apply(values, change);
        const unreported = Object.entries(valuesOf(merged)).filter(([path]) => !isReported(stored, path));
        values = { ...values, ...Object.fromEntries(unreported) };
        stored = merged;
      }
      expect(values).toEqual(valuesOf(stored));
    }),
  );
});

function isReported({ settings }: ZoneSettings, path: string): boolean {
  return Object.hasOwn(settings, path.split('/', 1)[0] ?? '');
}

test('a state differs from itself in nothing, and only a hidden part may differ under equal values', () => {
  const [one, other] = ['k.a', 'k.b'].map((hidden) => shopWith({ ZoneSecurityKey: ['set', hidden] }));
  expect(diffSettings(one as ZoneSettings, one as ZoneSettings)).toEqual([]);
  expect(diffSettings(one as ZoneSettings, other as ZoneSettings)).toEqual([
    { path: 'ZoneSecurityKey', before: 'set', after: 'set' },
  ]);
});

test('rules that are added or deleted are no change of their order', () => {
  expect(diffSettings(rules('a', 'b'), rules('c', 'a'))).toEqual([]);
  expect(diffSettings(rules('a', 'b'), rules('b', 'c', 'a')).map(({ path }) => path)).toEqual([ruleOrder]);
});

function rules(...ids: string[]): ZoneSettings {
  return shopWith({ [ruleOrder]: [ids.map((guid) => ({ guid, name: guid }))] });
}

function shopWith(settings: ZoneSettings['settings']): ZoneSettings {
  return { id: '1', name: 'shop', settings };
}
