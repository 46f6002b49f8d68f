import { canary } from './canaries.ts';
import type { RandomSource } from './dice.ts';
import type { EdgeRule, EdgeRuleAction, Trigger } from './zone-fields.ts';

type Example = readonly [type: number, one?: string, two?: string, three?: string];

// One plausible use of every EdgeRuleActionType of the specification (35 and 36 do not exist).
// Header values are planted secrets: people do put origin passwords there.
const actions = (owner: number): readonly Example[] => [
  [0],
  [1, 'https://www.example.com/new{{path}}', '301'],
  [2, `https://deploy:${canary('edge-rule-origin-password', owner)}@fallback.example.com`],
  [3, '86400'],
  [4],
  [5, 'X-Served-For', canary('edge-rule-response-header', owner)],
  [6, 'Authorization', `Bearer ${canary('edge-rule-request-header', owner)}`],
  [7],
  [8],
  [9],
  [10, '3600'],
  [11],
  [12],
  [13],
  [14, '410'],
  [15],
  [16, '600'],
  [17, '2001', '/mirror'],
  [18, '512', '10'],
  [19, '16'],
  [20, '50'],
  [21, '301'],
  [22, 'app0shop0000001', 'endpoint-1'],
  [23],
  [24, '3', '2'],
  [25, 'public, max-age=60'],
  [26],
  [27],
  [28],
  [29],
  [30],
  [31],
  [32],
  [33],
  [34],
  [37],
];

const triggers = (owner: number): readonly [Trigger, ...Trigger[]] => [
  trigger(0, ['https://*/checkout/*', '*/cart*']),
  trigger(1, [canary('edge-rule-trigger-header', owner)], 'X-Internal-Token'),
  trigger(2, ['no-store*'], 'Cache-Control'),
  trigger(3, ['jpg', 'png', 'webp']),
  trigger(4, ['DE', 'AT', 'CH']),
  trigger(5, ['203.0.113.7', '198.51.100.0/24']),
  trigger(6, ['*preview=1*']),
  trigger(7, ['10']),
  trigger(8, ['404', '5xx']),
  trigger(9, ['POST', 'PUT']),
  trigger(10, ['beta'], 'cohort'),
  trigger(11, ['US-CA', 'US-NY']),
  trigger(12, ['2']),
  trigger(13, ['dns', 'timeout']),
];

function trigger(type: number, patterns: string[], parameter: string | null = null): Trigger {
  return { Type: type, PatternMatches: patterns, PatternMatchingType: 0, Parameter1: parameter };
}

function action([type, one, two, three]: Example): EdgeRuleAction {
  return {
    ActionType: type,
    ActionParameter1: one ?? '',
    ActionParameter2: two ?? '',
    ActionParameter3: three ?? '',
  };
}

function rule(
  owner: number,
  position: number,
  example: Example,
  when: Trigger[],
  more: Partial<EdgeRule> = {},
): EdgeRule {
  const tail = `${owner}${String(position).padStart(4, '0')}`.padStart(12, '0');
  return {
    Guid: `0e5f1c2a-0000-4000-8000-${tail}`,
    ...action(example),
    Triggers: when,
    ExtraActions: [],
    TriggerMatchingType: 0,
    Description: null,
    Enabled: true,
    OrderIndex: position,
    ReadOnly: false,
    ...more,
  };
}

/** A rule of every action type, and every trigger type at least once: the zone `edge-lab` carries them. */
export function oneRuleOfEachKind(owner: number): EdgeRule[] {
  const when = triggers(owner);
  return actions(owner).map((example, position) =>
    rule(owner, position, example, [when[position % when.length] ?? when[0]], {
      Description: `Example of action ${example[0]}`,
      Enabled: position % 9 !== 8,
      ReadOnly: position % 12 === 11,
      TriggerMatchingType: position % 3,
      ...(position % 5 === 4 ? { ExtraActions: [action([5, 'X-Rule', canary('extra-action', owner)])] } : {}),
    }),
  );
}

/** A few rules as teams write them; some without a description, some switched off. */
export function someRules(owner: number, dice: RandomSource, count: number): EdgeRule[] {
  const all = actions(owner);
  const when = triggers(owner);
  return Array.from({ length: count }, (_, position) => {
    const conditions = [dice.pick(when), ...(dice.chance(0.3) ? [dice.pick(when)] : [])];
    return rule(owner, position, all[dice.between(0, all.length - 1)] ?? [0], conditions, {
      Description: dice.chance(0.5)
        ? dice.pick(['Force TLS', 'Old shop links', 'Block scrapers', 'Cache longer'])
        : null,
      Enabled: dice.chance(0.85),
      TriggerMatchingType: dice.between(0, 2),
    });
  });
}
