/** Common words and sentences, each with the command that answers it. Names and short forms stand with the command. */

import { parseWords, type Token, toWords, type Words } from './words.ts';

/** `…` stands for the words around it. One meaning runs at once; several are offered as buttons. */
const meanings: readonly (readonly [said: string, ...commands: string[]])[] = [
  [
    'errors error errs fail fails failing failed failure failures erroring broken breaking breaks break broke down offline',
    'errors …',
  ],
  [
    'unreachable timeout timeouts outage dead slow working wrong fixed recover recovered back 5xx 500 502 503 504',
    'errors …',
  ],
  [
    'billing bill charges money price spend spending spent pay expensive invoice invoices',
    'zones sort:charges …',
  ],
  ['cost costs', 'zones sort:charges …', 'app …'],
  ['top biggest busiest traffic usage bandwidth', 'zones sort:bandwidth …'],
  ['attention problems problem trouble issue issues worst unhealthy', 'zones only:attention …'],
  ['certificate certificates cert certs ssl https', 'zones only:no-certificate …', 'zone … hostnames'],
  ['tls', 'zones only:old-tls …'],
  ['limit limits quota quotas', 'zones only:above-80 …'],
  ['suspended', 'zones only:suspended …'],
  ['disabled', 'zones only:disabled …'],
  ['hostname hostnames domain domains', 'zone … hostnames'],
  ['origin point points pointing', 'zone … origin'],
  ['dns', 'errors …', 'zone … hostnames'],
  ['rules rule redirect redirects', 'zone … rules'],
  ['cache caching ttl', 'zone … caching'],
  ['logging', 'zone … logging'],
  ['logs log', 'zone … logging', 'errors …', 'export …'],
  ['happened happening', 'errors …', 'changes …'],
  ['alarm alarms incident incidents snooze mute silence acknowledge acknowledged ack firing', 'alert'],
  ['schedule schedules summary report reports', 'digest'],
  ['shield waf firewall csv', 'export …'],
  ['attack attacks attacked attacking ddos bots blocked', 'export', 'errors …', 'zones sort:bandwidth …'],
  ['malware virus viruses uploads', 'scanning'],
  ['cpu memory latency instances replicas', 'app …'],
  ['script scripts', 'variable …', 'zones script:…'],
  ['set flip toggle turn switch env environment feature flag', 'variable'],
  ['undo revert rollback', 'variable undo'],
  ['approve approves deny waiting waits pending request', 'approvals'],
  ['cancel', 'approvals', 'export list'],
  ['rights permissions permission roles role', 'whoami'],
  ['allowed', 'why'],
  ['operators approvers admins people caps timezone channels configuration preferences', 'settings'],
  ['key token apikey', 'connect', 'whoami', 'keys'],
  ['mcp assistant', 'token'],
  ['documentation support contact feedback examples', 'help'],
  ['version ping', 'doctor'],
];

/** What the bot cannot do, and the commands that come nearest. */
const absent: readonly (readonly [said: string, note: string, ...commands: string[]])[] = [
  [
    'purge purging flush invalidate clear',
    'I can’t purge the cache: use the CDN’s control panel. I can show what a zone caches.',
    'zone … caching',
  ],
  [
    'page statuspage bunny bunny.net',
    'I can’t page people or read the CDN’s status page. I can show which of your zones fail now.',
    'errors',
    'alert new errors',
  ],
  [
    'call oncall on-call escalate',
    'I don’t know who is on call. An alert can mention people and groups when something fails.',
    'alert new errors',
    'alert list',
  ],
  [
    'deploy deployments redeploy publish restart reboot scale',
    'I can’t deploy scripts or restart apps: use the CDN’s control panel. I can set variables and show how an app is doing.',
    'variable',
    'app',
  ],
  [
    'block unblock ban unban whitelist blacklist allowlist ip geo rate',
    'I can’t block visitors or change shield rules: use the CDN’s control panel. I can export the shield’s events.',
    'export',
    'errors',
  ],
  [
    '403 404 hit ratio rps response stats statistics metrics graph chart dashboard storage',
    'I can’t show that: use the CDN’s control panel. I can show bandwidth, charges, origin errors and app usage.',
    'zones sort:bandwidth',
    'errors',
    'app',
  ],
  ['access grant operator approver admin', 'Admins give roles in the settings.', 'settings people', 'whoami'],
  [
    'subscribe unsubscribe',
    'A digest posts on a schedule, an alert when something happens.',
    'digest list',
    'alert list',
  ],
  [
    'create add new rename renew edit enable disable delete remove',
    'I can only set script variables and delete app volumes. For other changes, use the CDN’s control panel.',
    'variable',
    'volume delete',
  ],
];

/** Where a word alone would mislead; `$1` is what the sentence is about. The first that fits counts. */
const sentences: readonly (readonly [said: string, command: string])[] = [
  ['(today|yesterday|\\w+day|last (?:hour|night)|this morning)', 'errors $1'],
  // `what's up with shop`
  ["what(?:’s| is|'s|s) (?:wrong|up|going on)(?: (?:with|in|at))?( .*)?", 'errors$1'],
  ['(?:set )?variable (\\d+) (?:of|in) (?:script )?(\\d+)', 'variable $2 $1'],
  ['(?:delete|remove) (?:a |the )?volumes?( \\S+)?', 'volume delete$1'],
  [
    '(?:delete|remove) (?!(?:an?|the|my|this|all|old|pull|zone|app|script|rule|hostname|origin|api|key|certificate)\\b)(\\S+ \\S+)',
    'volume delete $1',
  ],
  ['(?:is|are) (?:everything|all) (?:ok|okay|fine|up|good|healthy)', 'zones only:attention'],
  [
    "how(?: is| are|['’]s) (?:everything|we|things)(?: doing| going)?|(?:all|everything) (?:ok|good|fine)",
    'zones only:attention',
  ],
  ['(?:the )?top \\d+(?: zones)?', 'zones sort:bandwidth'],
  ['what changed before .*', 'changes'],
  ['(?:is|are) (?:the )?(\\S+) (?:ok|okay|fine|up|good|alive|healthy|online)', 'errors $1'],
  ['zones? (?:without|with no|missing) (?:an? )?(logging|certificate)s?', 'zones only:no-$1'],
  // `how is shop doing`; `status page` and `my status` are something else.
  ['(?:status|how is)(?: of)? (?!page|my )(?:the )?(?:zone )?(.+?)(?: doing)?', 'zone $1'],
  ['(\\S+) (?:vs\\.?|versus) (\\S+)', 'compare $1 $2'],
  // `what has bob been doing`
  ['what (?:did|has|is) @?(\\S+) (?:been )?(?:do|done|doing|changed?)(?: .*)?', 'audit @$1'],
  ['who (?:did|deleted|removed|set|approved|denied) .*', 'audit changes'],
  ['(?:delete|remove) (?:the )?volume (\\S+) (?:of|from|in) (?:the )?(?:app )?(\\S+)', 'volume delete $2 $1'],
  // `let me know if shop is down`
  [
    '(?:tell|notify|warn|alert|ping|let) (?:me|us) (?:know )?(?:when|if|once|about|of|before)( .*)',
    'alert new$1',
  ],
  // `send me a daily digest of shop`
  [
    '(?:new|add|create|make|set up|send)? ?(?:me )?(?:an? )?(?:new )?(daily|weekly|monthly)? ?(digest|alert)(?: (?:for|of|on|about|if|when))?( .*)?',
    '$2 new $1$3',
  ],
  // `why can’t I export`, `am I allowed to export`; `am I an admin` is below.
  ["(?:why )?(?:can(?:no|’|')?t?|may|could|am) i (?:allowed to )?(?!an? |do\\b|allowed$)(.+)", 'why $1'],
  ['who am i|am i .*|my key', 'whoami'],
  ['who (?:(?:can|may) .*|(?:is|are) (?:the |an? )?(?:admin|operator|approver)s?)', 'settings'],
  ['how (?:do|can|would) i (.+)|help (?:me )?with (.+)|how does (.+) work', 'help $1$2$3'],
  ['(?:cancel|list|my|where is)(?: an?| the| my)* exports?', 'export list'],
  ['(?:log|sign) ?(?:me )?out|(?:forget|remove|delete) my key', 'disconnect'],
  ['(?:log|sign) ?(?:me )?in', 'connect'],
  [
    '(?:what (?:can|may) (?:i|you)|good (?:morning|evening)|thank(?:s| you))( .*)?|(?:hi|hey|hello)(?: \\S+)?|help me',
    'help',
  ],
];

const polite = '(?:(?:please|i (?:want|need)(?: to)?|(?:can|could) you) )*';

/** A sentence, although the first word is the name of a command. */
const startsSentence = new RegExp(
  `^(?:${[
    '(?:show|list|status|forget) .*',
    '(?:can|may) (?:you|we|i) .*',
    "why (?:is|are|do|does|did|was|were|can['’n]|can i|so|the|\\d).*",
    '(?:alert|digest) (?:me|us|when|if|about|for|of|on) .*',
    'help (?:me.*|with .*|.+ (?:down|failing|broken))',
    'zones? (?:failing|failed|(?:by|that|which|with(?:out)?|sorted|missing|near|at|over) .*)',
    'zone \\S+ (?:errors?|fail\\w*|down|slow|5xx)',
  ].join('|')})$`,
  'iu',
);

/** Around the word that names what is wanted. */
const fillers = new Set(
  "a an the any some all every is are was were be been am do does did has have had can could would should i we me us my our you your it its there that their which what whats when where who whose whos why how come many much lot lots often long number status show list get give find search look up see display open tell info details download go please help use uses using run runs running sorted by near old now currently current latest recent newest really so not still under without someone something anything everything nothing users customers having getting returning want need needs start started stop stopped change update ok okay expire expired soon being know hi hey hello returns gives send i’d i'd like".split(
    ' ',
  ),
);
const prepositions = new Set(
  'of for in on at about with before after zone zones pull top most gateway origin to cdn site website bot cache'.split(
    ' ',
  ),
);
/** They count if nothing else does. */
const weak = new Set(
  'cache cancel set turn switch create add new rename edit enable disable delete remove page zone zones requests script scripts app apps'.split(
    ' ',
  ),
);
const variableName = /^([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)(?:[=:].*)?$/u;
const timeWords = /^(?:today|yesterday|this|last|past|hour|day|week|month)$/iu;

const shapes = sentences.map(
  ([said, command]) => [new RegExp(`^${polite}(?:${said})[.?!]*$`, 'iu'), command] as const,
);
const meant = mapWords(meanings.map(([said, ...commands]) => [said, commands]));
const notes = mapWords(absent.map(([said, note, ...commands]) => [said, { note, commands }]));

function mapWords<Value>(rows: readonly (readonly [said: string, value: Value])[]): Map<string, Value> {
  return new Map(rows.flatMap(([said, value]) => said.split(' ').map((word) => [word, value] as const)));
}

/** One command runs; several are offered, and so is what comes near to something that the bot cannot do (`note`). */
export interface Meaning {
  readonly commands: readonly Words[];
  readonly note?: string | undefined;
}

/** What a line means that does not begin with a command, or does so only by chance. */
export function findMeaning(words: Words, isCommand: (word: string) => boolean): Meaning | undefined {
  // Alone it is the command: `zone` opens its form.
  const isAlone = words.tokens.length === 1 || !startsSentence.test(words.text);
  if (isAlone && isCommand(words.list[0]?.toLowerCase() ?? '')) return undefined;
  for (const [shape, command] of shapes) {
    const found = shape.exec(words.text);
    if (found)
      return {
        commands: [parseWords(command.replaceAll(/\$(\d)/gu, (_, at: string) => found[Number(at)] ?? ''))],
      };
  }
  return findByWord(words, isCommand);
}

/** Without what is around the words that count: `please find shop`. */
export function dropFillers({ raw, tokens }: Words): Words {
  const kept = tokens.flatMap((token, nth): Token[] => {
    if (token.quoted || token.name !== undefined) return [token];
    const text = token.text.replace(/['’]s$|[?!.,;]+$|(?<=^5(?:\d\d|xx))s$/iu, '');
    const isSinceWhen = /^since$/iu.test(text) && /^(?:when)?$/iu.test(tokens[nth + 1]?.text ?? '');
    const isFiller = text === '' || isSinceWhen || (tokens.length > 1 && fillers.has(text.toLowerCase()));
    return isFiller ? [] : [{ ...token, text, value: text }];
  });
  return toWords(raw, kept);
}

/** By one word of the line: `how many errors in shop`, `shop cert`. */
function findByWord(words: Words, isCommand: (word: string) => boolean): Meaning | undefined {
  const { raw, tokens: kept } = dropFillers(words);
  const isFailure = (word: string): boolean => meant.get(word)?.[0] === 'errors …';
  const isKnown = (word: string): boolean => meant.has(word) || notes.has(word) || isCommand(word);
  const isStrong = (word: string): boolean => isKnown(word) && !weak.has(word);
  const variable = kept.map(({ text }) => variableName.exec(text)?.[1]).find(Boolean);
  if (variable) return { commands: [parseWords(`variable ${variable}`)] };
  const plain = kept.map(({ text, name, quoted }) => (name || quoted ? '' : text.toLowerCase()));
  const word = plain.find(isFailure) ?? plain.find(isStrong) ?? plain.find(isKnown);
  // `shop yesterday`
  const isTimed = kept.length > 1 && kept.slice(1).every(({ text }) => timeWords.test(text));
  if (word === undefined)
    return isTimed ? { commands: [toWords(raw, [...parseWords('errors').tokens, ...kept])] } : undefined;
  const at = plain.indexOf(word);
  const others = kept.map((token, nth) => {
    const other = plain[nth] ?? '';
    return /^zones?$/u.test(other) || (isFailure(word) && isFailure(other)) ? [] : [token];
  });
  const rest = [others.slice(0, at), others.slice(at + 1)].flatMap((side) => dropPrepositions(side.flat()));
  const { note, commands = meant.get(word) ?? [/^(?:alert|digest)s?$/u.test(word) ? word : `${word} …`] } =
    notes.get(word) ?? {};
  return { note, commands: commands.flatMap((command) => fillRest(command, rest, raw) ?? []) };
}

/** At both ends, but for `in #ops`: `of shop` → `shop`. */
function dropPrepositions(tokens: readonly Token[]): readonly Token[] {
  const isPreposition = (nth: number): boolean =>
    prepositions.has(tokens.at(nth)?.text.toLowerCase() ?? '') && !/^<?#/u.test(tokens[nth + 1]?.typed ?? '');
  if (isPreposition(0)) return dropPrepositions(tokens.slice(1));
  return isPreposition(-1) ? dropPrepositions(tokens.slice(0, -1)) : tokens;
}

/** Undefined for `zones script:…` without a script. */
function fillRest(command: string, rest: readonly Token[], raw: string): Words | undefined {
  const [before = '', behind] = command.split('…');
  const isTimed = /^(?:errors|chang|export)/u.test(before);
  const others = rest.filter(
    ({ text }) => isTimed || !(timeWords.test(text) || weak.has(text.toLowerCase())),
  );
  const [first, ...further] = others;
  if (before.endsWith(':'))
    return first && toWords(raw, [...parseWords(`${before}${first.text}`).tokens, ...further]);
  const { tokens } = parseWords(before);
  if (behind === undefined || !first) return toWords(raw, tokens);
  return toWords(raw, [...tokens, ...others, ...parseWords(behind).tokens]);
}

/** For typing errors. */
export const knownWords: readonly string[] = [...meant.keys()].filter((word) => word.length > 4);

/** The commands that a word stands for, the likeliest first. */
export function findMeanings(word: string): readonly string[] {
  return meant.get(word.toLowerCase()) ?? [];
}

/** For the search of help. */
export function findWordsFor(name: string): string[] {
  return [...meant].flatMap(([word, commands]) =>
    commands.some((one) => one.split(' ')[0] === name) ? [word] : [],
  );
}
