import { readZone } from '../../../src/api/zones/members.ts';

/** What is read of a zone. */
export function readWholeZone(raw: unknown) {
  const read = readZone(raw);
  if (!read) throw new Error('not read as a zone');
  return read;
}

/** Two right values for a member of a published type: numbers and enumerations have these. */
export function valuesOf(type: string): readonly [unknown, unknown] {
  const values: Readonly<Record<string, readonly [unknown, unknown]>> = {
    boolean: [true, false],
    'string?': ['first', 'other and longer'],
    'string[]?': [['first'], ['other']],
    'Hostname[]?': [[{ Value: 'a.example' }], [{ Value: 'b.example' }]],
    'EdgeRule[]?': [[{ ActionType: 4 }], [{ ActionType: 0 }]],
    'OptimizerClass[]?': [[{ Name: 'first', Properties: { width: '200' } }], [{ Name: 'other' }]],
    'VendorAiImageBlueprint[]?': [[{ Name: 'first' }], [{ Name: 'other' }]],
  };
  return values[type] ?? (/^(?:int|double|decimal)/u.test(type) ? [7, 5] : [1, 0]);
}
