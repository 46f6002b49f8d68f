import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const root = new URL('../', import.meta.url);
// The doubles answer with words of their own; `external` has its own rules.
const exempt = /^(?:simulator|playground|external|docs)\//;
const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(
  (path) => path.endsWith('.test.ts') && !exempt.test(path),
);

const threeWords = /[\p{L}’']{2,} [\p{L}’']{2,} [\p{L}’']{2,}/u;
const expectation =
  /^.*\b(?:waitForMessage|waitForModal|waitForHome|toContain|toMatch)\(\s*(?:'([^'\n]*)'|`([^`]*)`|\/([^\n]*)\/[a-z]*[,)])/gmu;
// Log messages are search terms: operators look for the very words.
const aboutLog = /\blog(?:s|ged)?\b|output/iu;

test('words of answers stand in snapshots and words.ts, not in expectations', () => {
  const found = files.flatMap((path) =>
    [...readFileSync(new URL(path, root), 'utf8').matchAll(expectation)].flatMap(
      ([statement, ...literals]) =>
        literals.some((literal) => threeWords.test(literal ?? '')) && !aboutLog.test(statement)
          ? [`${path}: ${statement.trim()}`]
          : [],
    ),
  );
  expect(found).toEqual([]);
});

const nouns =
  'account|admin|alert|app|approval|approver|byte|call|certificate|change|channel|character|check|code|command|condition|day|digest|entry|entries|error|event|export|file|filter|group|host|hostname|hour|incident|instance|job|key|label|line|log|member|minute|month|name|part|people|person|place|point|reason|record|report|request|row|rule|run|script|second|setting|step|table|time|token|tool|tries|try|upload|user|value|variable|volume|week|word|workspace|zone';
/** Ways to count by hand, each of which once made a sentence such as "more than no errors" or "Try again in 1,440 minutes". */
const handWritten: Readonly<Record<string, RegExp>> = {
  'a noun behind a number: formatCount': new RegExp(
    `\\$\\{(?!format(?:Code|Place)|escape|plainText|name)[^{}\`']*\\}\\*? (?:more |other )?(?:${nouns})s?\\b(?! ID)`,
    'u',
  ),
  'a word chosen by a number: agree': /(?:[!=]== 1|> 1|< 2) \? (?:'\w{1,24}'|'s?')\s*: '\w*'/u,
  '"no zones" behind a preposition: formatCount':
    /\b(?:of|than|within|in|for|to|least|every|only|all|last|or|before|after|another) \$\{pluralize\(/u,
  'the end of a list: andMore or listSome': /and \$\{[^}]*\} more/u,
  'a number by another formatter': /toLocaleString|Intl\.NumberFormat/u,
  'a duration by hand: formatDuration or formatPeriod':
    /\$\{[^}]*\/ (?:60|1440|24|minuteMs|hourMs|dayMs)\b[^}]*\} (?!s\b)/u,
};

test('counts, nouns and durations in sentences come from one helper each', () => {
  const src = new URL('../src/', root);
  const found = ['app', 'cli', 'commands', 'slack', 'views'].flatMap((folder) =>
    readdirSync(new URL(`${folder}/`, src), { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.ts') && !path.endsWith('blocks/format.ts'))
      .flatMap((path) =>
        readFileSync(new URL(`${folder}/${path}`, src), 'utf8')
          .split('\n')
          .filter((line) => !/^\s*(?:\/\/|\*|\/\*)/u.test(line))
          .flatMap((line) =>
            Object.entries(handWritten).flatMap(([kind, shape]) =>
              shape.test(line) ? [`${folder}/${path}: ${kind}: ${line.trim()}`] : [],
            ),
          ),
      ),
  );
  expect(found).toEqual([]);
});
