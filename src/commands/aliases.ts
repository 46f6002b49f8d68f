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
  ['attention problems problem trouble issue issues', 'zones only:attention …'],
  ['certificate certificates cert certs ssl https', 'zones only:no-certificate …', 'zone … hostnames'],
  ['tls', 'zones only:old-tls …'],
  ['limit limits quota quotas', 'zones only:above-80 …'],
  ['suspended', 'zones only:suspended …'],
  ['disabled', 'zones only:disabled …'],
  ['hostname hostnames domain domains', 'zone … hostnames'],
  ['origin', 'zone … origin'],
  ['rules rule redirect redirects', 'zone … rules'],
  ['cache caching ttl', 'zone … caching'],
  ['security', 'zone … security'],
  ['logging', 'zone … logging'],
  ['logs log', 'zone … logging', 'errors …', 'export …', 'audit'],
  ['happened happening', 'errors …', 'changes …'],
  ['alarm alarms incident incidents snooze mute silence acknowledge acknowledged ack firing', 'alert'],
  ['schedule schedules summary report reports', 'digest'],
  ['shield waf firewall csv', 'export …'],
  ['attack attacks attacked attacking ddos bots blocked', 'export', 'errors …', 'zones sort:bandwidth …'],
  ['malware virus viruses uploads', 'scanning'],
  ['cpu memory latency instances replicas', 'app …'],
  ['script scripts', 'variable …', 'zones script:…'],
  ['set env environment feature flag', 'variable …'],
  ['undo revert rollback', 'variable undo'],
  ['delete remove', 'volume delete …'],
  ['approve approves deny waiting waits pending request', 'approvals'],
  ['rights permissions permission roles role', 'whoami'],
  ['allowed', 'why'],
  ['operators approvers admins people caps timezone channels configuration preferences', 'settings'],
  ['key token apikey', 'connect', 'whoami', 'keys'],
  ['mcp assistant', 'token'],
  ['version ping', 'doctor'],
];

/** What the bot cannot do, in a sentence, and the commands that come nearest. */
const absent: readonly (readonly [said: string, note: string, ...commands: string[]])[] = [
  [
    '(?:purge|purging|flush|invalidate|(?:clear|empty|delete|reset|refresh)(?: the| my)? cache|cache (?:purge|clear|flush))(?: the)?(?: cache)?(?: of| for| in| on)?(?: \\S*/\\S*)?( \\S+)?',
    'I can’t purge the cache: use the CDN’s dashboard. I can show what a zone caches.',
    'zone$1 caching',
  ],
  [
    '(?:the )?(?:cdn )?status ?page|(?:is )?(?:bunny(?:\\.net|cdn)?) (?:is )?(?:itself )?(?:down|up|ok|okay|status)',
    'I don’t read the CDN’s status page. I can show which of your zones fail now.',
    'errors',
    'alert new errors',
  ],
  [
    "(?:who(?:’s|'s|s| is) )?on.?call(?: now)?|(?:page|wake) .*|escalate.*",
    'I don’t know who is on call. An alert can mention people and groups when something fails.',
    'alert new errors',
    'alert list',
  ],
  ['who owns (.*)', 'I don’t know who owns a zone. I can show what changed in it.', 'changes $1', 'zone $1'],
  [
    '(?:re)?(?:deploy|publish)(?:ments?|s)?(?: .*)?',
    'I can’t deploy scripts: use the CDN’s dashboard. I can set a script’s variables.',
    'variable',
    'changes 24h',
  ],
  [
    '(?:(?:start|stop)(?: the| an?| my)? (?:app|container)|restart|reboot|scale)(?: .*)?',
    'I can’t start, stop or scale apps: use the CDN’s dashboard. I can show how one does.',
    'app',
  ],
  [
    '(?:un)?(?:block|ban) .*|(?:white|black|allow|deny) ?list(?: .*)?|(?:geo|country|ip)[ -]?(?:block|ban)\\w*|rate[ -]?limit.*',
    'I can’t block visitors or change shield rules: use the CDN’s dashboard. I can export what the shield saw.',
    'export',
    'errors',
  ],
  [
    '(?:create|new|add|make|rename|edit|change|update|enable|disable|pause|delete|remove|renew|switch|turn (?:on|off))(?: an?| the| my| new| pull)* (?:zones?|hostnames?|domains?|origins?|(?:edge )?rules?|cert(?:ificate)?s?|ssl|tls|logging|caching|apps?|scripts?)(?: (?:of|for|in|on|to|zone|the))*( \\S+)?(?: .*)?',
    'I can’t change zones, apps or scripts, only variables of scripts and volumes of apps: use the CDN’s dashboard.',
    'zone$1',
    'variable',
    'volume delete',
  ],
  [
    '(?:cache )?hit[ -]?(?:rate|ratio)s?(?: .*)?|requests? per (?:second|minute).*|rps|response times?(?: .*)?|latency (?:of|for|in) .*|(?:stat(?:istic)?s|metrics|graphs?|charts?|dashboards?)(?: .*)?',
    'I don’t have hit rates or response times of zones: use the CDN’s dashboard. I have bandwidth, charges, origin errors and the latency of apps.',
    'zones sort:bandwidth',
    'errors',
    'app',
  ],
  [
    '(?:(?:list |show |all )+(?:scripts|volumes)|scripts|storage(?: zones?)?)(?: .*)?',
    'I can’t list scripts, storage or volumes: use the CDN’s dashboard. I can set a script’s variables and show how much an app stores.',
    'variable',
    'app',
    'zones',
  ],
  [
    '(?:rotate|renew|revoke|create|new|change|replace)(?: an?| the| my| our| new)* (?:api[ -]?)?keys?',
    'I can’t make or revoke keys of the CDN: use its dashboard. Then connect the new one here.',
    'connect',
    'keys',
  ],
  [
    '(?:make|give|grant|add|remove|become|be) (?:.* )?(?:admin|operator|approver|access|rights|permissions|role)s?(?: .*)?|(?:(?:need|request|get) )?access',
    'An admin gives roles, in the settings.',
    'settings people',
    'whoami',
  ],
  [
    '(?:un)?subscribe(?: .*)?',
    'A digest posts on a schedule, an alert when something happens.',
    'digest list',
    'alert list',
  ],
  [
    'docs|documentation|about|support|contact|feedback|bugs?|test|check|examples|set ?up|getting started|what is this|how (?:does|do) (?:this|it|you) work',
    'Help finds commands by what they do, and the team that runs this bot hears about its faults.',
    'help all',
    'doctor',
  ],
  ['ok|okay|yes|no|stop|quit|exit|cancel', 'No question waits for that answer.', 'approvals', 'export list'],
];

const failing =
  '(?:failing|fails?|failed|down|broken|breaking|dead|(?:throwing|having|getting) (?:errors|problems)|(?:not )?working|(?:so )?slow)';

/** `$1` is what the sentence is about. The first that fits counts. */
const sentences: readonly (readonly [said: string, command: string])[] = [
  [
    `(?:why )?(?:is |are )?(?:nothing|everything|anything|all|(?:the |our )?(?:cdn|(?:web)?site)) (?:is |are )?${failing}`,
    'errors',
  ],
  [
    '(today|yesterday|(?:mon|tues|wednes|thurs|fri|satur|sun)day|last (?:hour|night)|this morning)',
    'errors $1',
  ],
  ["what(?:’s| is|'s|s) (?:wrong|up|going on)(?: (?:with|in|at))?(?: the)?(?: zone)?( .+)?", 'errors$1'],
  [
    '(?:is|are) (?:everything|all|all zones|we) (?:ok|okay|fine|up|good|alright|healthy)',
    'zones only:attention',
  ],
  ['(?:why )?is the bot .*|are you (?:ok|okay|up|alive|there)|health check|bot status', 'doctor'],
  ['(?:is|are) (?:the )?(?:zone )?(\\S+) (?:ok|okay|fine|up|good|alive|healthy|online)( .*)?', 'errors $1$2'],
  ['(?:who|what) broke (?:the )?(?:zone )?(.+)', 'changes $1'],
  ['how much (?:(?:does|do|did|will) .*)?(?:cost|pay|spend|money).*', 'zones sort:charges'],
  ['edge rules?(?: of| for| in)?( .*)?', 'zone$1 rules'],
  ['history of (.+)', 'changes $1'],
  ['(?:how many )?requests (?:were |are )?blocked', 'export'],
  ['zones? (?:without|with no|missing) (?:an? )?(logging|certificate)s?', 'zones only:no-$1'],
  ['zones? (?:near|at|close to|over|above) (?:the |their |an? )?(?:limits?|\\d+ ?%)', 'zones only:above-80'],
  [
    '(?:which |what )?(?:zones? )?(?:that )?(?:with|using|uses?|runs?|running) (?:the )?(script|app|origin|host|storage)(?: zone)? (\\S+)',
    'zones $1:$2',
  ],
  ['(?:zones?|list) list|(?:export|download|csv of) (?:all |the |my )*zones?(?: (?:as|in|to) csv)?', 'zones'],
  ['(?:status|state|health|details|info)(?: of| for)? (?!(?:of )?my )(?:the )?(?:zone )?(.+)', 'zone $1'],
  ["(?:how is|how’s|how's) (?:the )?(?:zone )?(.+?)(?: doing)?", 'zone $1'],
  ['what changed(?: (?:in|on|for|at|with))? (?:the )?(?:zone )?(.+)', 'changes $1'],
  [
    'who changed (?:the )?(?:zone )?(?!settings|roles)([^_\\s]+)( (?:since|in|on|last|today|yesterday).*)?',
    'changes $1$2',
  ],
  ['(?:differences? between )?(\\S+) (?:vs\\.?|versus) (\\S+)', 'compare $1 $2'],
  ['differences? between (\\S+) and (\\S+)', 'compare $1 $2'],
  [
    "what (?:did|has|is) @?(\\S+) (?:been )?(?:do|done|doing|changed?)(?: .*)?|@?(\\S+)['’]s activity",
    'audit @$1$2',
  ],
  ['what (?:did|have) i (?:do|done|ask).*', 'approvals'],
  ['who (?:did|has|deleted|removed|set|changed|flipped|approved|denied) .*', 'audit changes'],
  ['(?:set |change |update )?(?:the )?variable (\\d+) (?:of|in) (?:script )?(\\d+)', 'variable $2 $1'],
  ['(?:set|change|update|list|show)(?: an?| the| all| my)* variables?( \\d+ \\d+)?', 'variable$1'],
  ['(?:take|put) it back', 'variable undo'],
  [
    '(?:stop|mute|silence|snooze|pause|edit|change|delete|remove|(?:turn|switch) (?:on|off)) (?:an? |the |my |all )?(alert|digest)s?',
    '$1 list',
  ],
  ['(?:flip|toggle|(?:turn|switch) (?:on|off)) (?:the )?(\\w+)', 'variable $1'],
  ['(?:set|turn|switch) (?:the )?(\\w+) (?:to|=|on|off|true|false)(?: .*)?', 'variable $1'],
  ['(?:delete|remove) (?:the )?volume (\\S+) (?:of|from|in) (?:the )?(?:app )?(\\S+)', 'volume delete $2 $1'],
  ['(?:delete|remove) (?:a |the )?volume (\\w+-\\S+)', 'volume delete $1'],
  ['(?:delete|remove) (?:a |the )?(?:volumes?(?: \\S+)?|\\S+ volume)', 'volume delete'],
  ['(?:tell|notify|warn|alert|ping|message) (?:me|us) (?:when|if|once|about|of|before)( .*)', 'alert new$1'],
  [
    '(?:new|add|create|make|set up|send|post)? ?(?:me |us )?(?:an? )?(?:new )?(daily|weekly|monthly)? ?(digest|alert)(?: (?:for|of|on|about|if|when))?( .*)?',
    '$2 new $1$3',
  ],
  [
    '(?:send|post)?(?: (?:me|us))? ?(?:an?)? ?(?=daily|weekly|monthly|(?<=send .*|post .*)report|(?<=send .*|post .*)summary)(daily|weekly|monthly)? ?(?:report|summary)(?: (?:for|of|on|about))?( .*)?',
    'digest new $1$2',
  ],
  [
    '(?:which |what |when (?:do|does) )?(?:the |our |my )?(?:cert|certificate)s? (?:that )?(?:expires?|ends?|expiring|ending)(?: soon)?',
    'alert new certificate ends',
  ],
  ['(?:let me|let us) know (?:when|if|once)( .*)', 'alert new$1'],
  ['who am i|am i (?:an? )?(?:admin|operator|approver)', 'whoami'],
  ["why (?:can(?:no|’|')?t|may|can|am) i(?: not)?(?: allowed to)? (.+)", 'why $1'],
  ['(?:can|may|could|am) i (?:allowed to )?(?!do\\b|allowed)(.+)', 'why $1'],
  ['who (?:approves|(?:can|may) .*|(?:is|are) (?:an? |the |our )?(?:admin|operator|approver)s?)', 'settings'],
  ['how (?:do|can|would) (?:i|we|you) (.+)', 'help $1'],
  ['(?:cancel|list|my|where is|status of)(?: an?| the| my)* exports?|export status', 'export list'],
  ['(?:blocked|infected) (?:uploads?|files?)', 'scanning'],
  ['(?:make|use) (\\S+) (?:as )?the zone (?:of|in|for) (?:this|the) channel', 'here zone $1'],
  ['connect (?:my|a|the|an) (?:api )?key', 'connect'],
  [
    '(?:send (?:me|us) |get |show |download )?(?:the )?(?:security|shield|firewall|waf|blocked|event) (?:events|logs?|requests)|(?:send (?:me|us)|download) (?:the )?events',
    'export',
  ],
  ['(?:log|sign) ?(?:me )?out|(?:forget|remove|delete) my key', 'disconnect'],
  ['(?:log|sign) ?(?:me )?in', 'connect'],
  ['help (?:me|us|please)|please help(?: me| us)?|(?:list|show) everything', 'help'],
  ['what (?:can|may|am) (?:i|you)(?: allowed to)?(?: do| run)?(?: here)?|(?:who|what) are you', 'help'],
  ['(?:hi|hey|hello|good (?:morning|evening)|thanks|thank you|thx)(?: there| bot)?', 'help'],
  ['my key', 'whoami'],
];

/** Before what is asked for, a command or not. */
const polite =
  /^(?:(?:please|pls|(?:can|could|would|will) (?:you|we)|(?:can|may) i|i (?:want|need|would like|’d like)(?: to)?|let’s|how (?:do|can) (?:i|we)|try to|help me) )+/iu;

/** A command, although the first word is the name of another. */
const startsSentence = new RegExp(
  `^(?:${[
    '(?:show|list|status|forget) .*',
    'rename (?:the |my |an? )*(?:zone|hostname|domain).*',
    '(?:can|could|may) (?:you|we|i) .*',
    "why (?:is|are|am|do|does|did|was|were|can['’n]|can i|may i|so|the|\\d).*",
    '(?:alert|digest) (?:me|us|when|if|about|for|of|on) .*',
    `help (?:me|us|please|.+ ${failing})`,
    `zones? (?:list|${failing}|(?:that|which|with(?:out)?|using|by|sorted|missing|near|at|close to|over|above) .*)`,
    'zone \\S+ (?:errors?|fail\\w*|is .*|down|slow|5xx)',
    'export (?:(?:all |the |my )*zones?.*|status)',
    'requests (?:were |are )?(?:blocked|per .*)',
    'variables? (?:\\d+ )?(?:of|in) .*',
    'connect (?:my|a|the|an) .*',
    'history of .*|scan results|health check',
  ].join('|')})$`,
  'iu',
);

/** Around the word that names what is wanted. */
const fillers = new Set(
  'a an the any some all every is are was were be been am do does did has have had can could would should i we me us my our you your it its there that their which what whats when where who whose whos why how come many much lot lots often long number status show list get give find search look up see check display open tell info details download go please help use uses using run runs running sorted by near old now currently current latest recent newest really so not still under someone somebody something anything everything nothing users customers seeing having getting returning throwing serving giving want need needs start started stopped stop warn before change edit update ok okay fine expire expires expired expiring'.split(
    ' ',
  ),
);
const prepositions = new Set(
  'of for in on at about with zone zones pull top most gateway origin server to'.split(' '),
);
/** They count if nothing else does. */
const weak = new Set('set delete remove zone zones request requests script scripts app apps'.split(' '));
const variableName = /^([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)(?:[=:].*)?$/u;

const compile = (said: string): RegExp => new RegExp(`^(?:${said})[.?!]*$`, 'iu');
const shapes = sentences.map(([said, command]) => [compile(said), command] as const);
const absentShapes = absent.map(([said, note, ...commands]) => [compile(said), note, commands] as const);
const meant = new Map(
  meanings.flatMap(([said, ...commands]) => said.split(' ').map((word) => [word, commands])),
);
const failures = new Set(
  meanings.flatMap(([said, command]) => (command === 'errors …' ? said.split(' ') : [])),
);

/** One command runs; several are offered, and so is what comes near to something that the bot cannot do (`note`). */
export interface Meaning {
  readonly commands: readonly Words[];
  readonly note?: string;
}

/** What a line means that does not begin with a command, or does so only by chance. */
export function findMeaning(words: Words, isCommand: (word: string) => boolean): Meaning | undefined {
  // Alone it is the command: `zone` opens its form.
  const isAlone = words.tokens.length === 1 || !startsSentence.test(words.text);
  if (isAlone && isCommand(words.list[0]?.toLowerCase() ?? '')) return undefined;
  const bare = words.text.replace(polite, '');
  for (const [shape, note, commands] of absentShapes) {
    const found = shape.exec(bare);
    if (found) return { note, commands: commands.map((command) => fill(command, found)) };
  }
  for (const text of new Set([words.text, bare]))
    for (const [shape, command] of shapes) {
      const found = shape.exec(text);
      if (found) return { commands: [fill(command, found)] };
    }
  return findByWord(words, isCommand);
}

/** Without what is around the words that count: `please find shop`. */
export function dropFillers({ raw, tokens }: Words): Words {
  const kept = tokens.flatMap((token, nth) => {
    const text = token.quoted
      ? token.text
      : token.text.replace(/['’]s$|[?!.,;]+$|(?<=^5(?:\d\d|xx))s$/iu, '');
    const isFiller =
      !token.quoted && tokens.length > 1 && (fillers.has(text.toLowerCase()) || isSinceWhen(tokens, nth));
    return isFiller || text === ''
      ? []
      : [{ ...token, text, value: token.name === undefined ? text : token.value }];
  });
  return toWords(raw, kept);
}

/** `zone$1 caching` without a zone is `zone`. */
function fill(command: string, found: RegExpExecArray): Words {
  const written = found[1] ? command : command.replace(/\$1 [a-z]+$/u, '');
  return parseWords(written.replaceAll(/\$(\d)/gu, (_, at: string) => found[Number(at)] ?? ''));
}

/** By one word of the line: `how many errors in shop`, `shop cert`. */
function findByWord(words: Words, isCommand: (word: string) => boolean): Meaning | undefined {
  const { raw, tokens: kept } = dropFillers(words);
  const is = (test: (word: string) => boolean): number =>
    kept.findIndex(({ text, name, quoted }) => name === undefined && !quoted && test(text.toLowerCase()));
  const variable = kept.map(({ text }) => variableName.exec(text)?.[1]).find(Boolean);
  if (variable) return { commands: [parseWords(`variable ${variable}`)] };
  const at = [
    (word: string) => failures.has(word),
    (word: string) => (meant.has(word) || isCommand(word)) && !weak.has(word),
    (word: string) => meant.has(word) || isCommand(word),
  ]
    .map(is)
    .find((found) => found >= 0);
  const word = kept[at ?? -1]?.text.toLowerCase();
  if (word === undefined) return undefined;
  const rest = kept.filter(
    ({ text, quoted }, nth) =>
      nth !== at &&
      (quoted || !(/^zones?$/iu.test(text) || (failures.has(word) && failures.has(text.toLowerCase())))),
  );
  while (prepositions.has(rest[0]?.text.toLowerCase() ?? '') && !/^<?#/u.test(rest[1]?.typed ?? ''))
    rest.shift();
  while (prepositions.has(rest.at(-1)?.text.toLowerCase() ?? '')) rest.pop();
  const takesRest = !/^(?:alert|digest)s?$/u.test(word);
  const commands = meant.get(word) ?? [takesRest ? `${word} …` : word];
  return { commands: commands.flatMap((command) => fillRest(command, rest, raw) ?? []) };
}

/** `since when`, `down since when`, without another time behind it. */
function isSinceWhen(tokens: readonly Token[], at: number): boolean {
  return /^since( when)?$/iu.test(
    tokens
      .slice(at, at + 2)
      .map(({ text }) => text)
      .join(' '),
  );
}

/** Undefined for `zones script:…` without a script. */
function fillRest(command: string, rest: readonly Token[], raw: string): Words | undefined {
  const [before = '', behind] = command.split('…');
  const isTimed = /^(?:errors|changes|export)/u.test(before);
  const others = rest.filter(
    ({ text }) => isTimed || !(timeWords.test(text) || /^(?:script|app)s?$/iu.test(text)),
  );
  const [first, ...further] = others;
  if (before.endsWith(':'))
    return first && toWords(raw, [...parseWords(`${before}${first.text}`).tokens, ...further]);
  const { tokens } = parseWords(before);
  if (behind === undefined || !first) return toWords(raw, tokens);
  return toWords(raw, [...tokens, ...others, ...parseWords(behind).tokens]);
}

const timeWords = /^(?:today|yesterday|this|last|past|hour|day|week|month)$/iu;

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
