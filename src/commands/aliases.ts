/**
 * What people type, and the command that answers it. A new word goes into `meanings`, or into `absent` where the bot cannot do
 * it; a line of test/commands/aliases.test.ts holds it. Names and short forms stand with the command.
 */

import { parseWords, type Token, toWords, type Words } from './words.ts';

/** `words → command`; `…` stands for the words around it. One meaning runs at once; several are offered as buttons. */
const meanings = `
  errors error errs fail fails failing failed failure failures erroring broken breaking breaks break broke down offline → errors …
  unreachable reachable unavailable timeout timeouts outage dead slow work works working wrong fixed resolved recover recovered back 5xx 500 502 503 504 → errors …
  doesn't doesnt isn't isnt won't wont responding load loads loading loaded stuck crash crashed → errors …
  billing bill charges money price spend spending spent pay expensive invoice invoices forecast budget → zones sort:charges …
  cost costs → zones sort:charges … | app …
  top biggest busiest traffic usage bandwidth → zones sort:bandwidth …
  attention problems problem trouble issue issues worst unhealthy → zones only:attention …
  certificate certificates cert certs ssl https → zones only:no-certificate … | zone … hostnames
  tls → zones only:old-tls … | zone … security
  limit limits quota quotas → zones only:above-80 …
  suspended → zones only:suspended …
  disabled → zones only:disabled …
  hostname hostnames domain domains → zone … hostnames
  origin point points pointing → zone … origin
  dns → errors … | zone … hostnames
  rules rule redirect redirects → zone … rules
  cache cached caching ttl → zone … caching
  logging → zone … logging
  logs log → zone … logging | errors … | export …
  difference differences different differs → compare …
  happened happening → errors … | changes …
  touch touched modify modified → changes …
  alarm alarms incident incidents snooze mute silence acknowledge acknowledged ack firing notify notifying notification notifications → alert
  over → alert | errors …
  schedule schedules summary report reports post posts → digest
  shield waf firewall csv → export …
  attack attacks attacked attacking ddos bots blocked → export | errors … | zones sort:bandwidth …
  malware virus viruses uploads → scanning
  cpu memory latency instances replicas → app …
  script scripts → variable … | zones script:…
  set flip toggle turn switch env environment feature flag → variable
  undo revert rollback restore oops → variable undo
  approve approves deny waiting waits pending request → approvals
  cancel → approvals | export list
  rights permissions permission roles role → whoami
  allowed refused → why
  operators approvers admins people caps timezone channels configuration preferences → settings
  key token apikey → connect | whoami | keys
  mcp assistant → token
  documentation support contact feedback examples tutorial intro guide manual start started → help
  ok okay yes no thx cheers bye hilfe aide ayuda → help
  version ping → doctor
`;

/** `words → what the bot cannot do → the commands that come nearest`. */
const absent = `
  purge purging flush invalidate clear → I can’t purge the cache: use the CDN’s control panel. I can show what a zone caches. → zone … caching
  bunny bunny.net page statuspage → I can’t page people or read the CDN’s status page. I can show which of your zones fail now. → errors | alert new errors
  call oncall on-call escalate → I don’t know who is on call. An alert can mention people and groups when something fails. → alert new errors | alert list
  deploy deployments redeploy publish restart reboot scale → I can’t deploy scripts or restart apps: use the CDN’s control panel. I can set variables and show how an app is doing. → variable | app
  block unblock ban unban whitelist blacklist allowlist ip geo rate → I can’t block visitors or change shield rules: use the CDN’s control panel. I can export the shield’s events. → export | errors
  403 404 hit ratio rps per response stats statistics metrics graph chart dashboard storage → I can’t show that: use the CDN’s control panel. I can show bandwidth, charges, origin errors and app usage. → zones sort:bandwidth | errors | app
  bug bugs → I can’t take bug reports: tell the team that runs this bot, with the reference of the answer. → doctor | help
  stop quit exit never nevermind → There is nothing to stop here. Exports and waiting requests are cancelled in their lists. → export list | approvals
  share → To share an answer, end the command with \`in #channel\`, or press *Share* below it. → errors | zones
  language english german deutsch → I only speak English. → help
  access grant operator approver admin → Admins give roles in the settings. → settings people | whoami
  subscribe unsubscribe → A digest posts on a schedule, an alert when something happens. → digest list | alert list
  create add new rename renew edit enable disable delete remove → I can only set script variables and delete app volumes. For other changes, use the CDN’s control panel. → variable | volume delete
`;

/** Parts of `sentences`. */
const isFine = '(?:ok|okay|fine|up|good|alive|healthy|online)';
const create = '(?:(?:new|add|create|make|set up|send)(?: me| us)?(?: new)? )?';
const about = '(?: (?:for|of|on|about|if|when))?';

/** `pattern → command` where a word alone would mislead, matched without articles; the first that fits counts. */
const sentences = String.raw`
  what(?: is|'?s) (?:wrong|up|going on)(?: (?:with|in|at))?( .*)? → errors$1
  (?:users|customers|visitors|people) can(?:no|')?t \w+( .*) → errors$1
  (?:is|are) (?:you|(?:cdn )?bot) (?:${isFine}|there|down|working|broken|slow) → doctor
  (?:is |are )?(?:everything|all) ${isFine} → zones only:attention
  how(?: is| are|'s) (?:everything|we|things)(?: doing| going)? → zones only:attention
  (?:is|are) (?!bunny)(\S+) ${isFine} → errors $1
  why is (status|errors|week|help|info|open|update) (?:failing|down|slow|broken)( .*)? → errors "$1"$2
  (?:status|how is|how's)(?: of)? (?!page|my )(?:zone )?(.+?)(?: doing)? → zone $1
  top \d+(?: zones)? → zones sort:bandwidth
  zones? (?:without|with no|missing) (logging|certificate)s? → zones only:no-$1
  zones? (?:of|with|on) script (\S+) → zones script:$1
  zones? list → zones
  (\S+) (?:vs\.?|versus) (\S+) → compare $1 $2
  what changed before .* → changes
  did (?:any|some)\w* change(?! before)(?: something| anything)?( .*)? → changes$1
  did (?:\S+ of )?(\S+) change → changes $1
  what (?:did|has) @?(\S+) (?:been )?(?:do|done|doing|changed?)(?: .*)? → audit @$1
  who (?:did|deleted|removed|set|approved|denied) .* → audit changes
  (?:set )?variable (\d+) (?:of|in) (?:script )?(\d+) → variable $2 $1
  (?:take|roll|put|change|go) (?:it |that |this )?back(?: .*)? → variable undo
  (?:delete|remove) (?=.*\b(?:volume|app)\b)(?:volume )?(\S+) (?:of|from|in) (?:app )?(.+) → volume delete $2 $1
  (?:delete|remove|wipe|drop) (?:my )?(\S+ )?volumes?( \S+)? → volume delete $1$2
  (?:delete|remove) (\S*\d\S{5,}) (\S+) → volume delete $1 $2
  (?:tell|let|notify|warn|alert|ping|wake) \S+ (?:know |up )?(?:when|if|once|of|before)( .*) → alert new$1
  (?:notify|warn|alert) \S+ about( .*) → alert new$1
  (?:be|get) (?:notified|alerted|warned|told) (?:when|if|once|of|about)( .*) → alert new$1
  ${create}(daily |weekly |monthly )?(digest|alert)${about}( .*)? → $2 new $1$3
  (?:i'?m|(?:is |has )?(?:any|some)(?:one|body)|who(?: is|'s)) (?:already )?(?:on it|looking|working|checking|on this).* → alert list
  (?:what (?:can|may) (?:i|you)|(?:what|who) (?:is|are) (?:this|you)|good (?:morning|evening)|thank(?:s| you))( .*)? → help
  (?:hi|hey|hello)(?: \S+)?|help me|how to use .*|how does (?:it|this) work → help
  how (?:do|can|would) i (.+)|help (?:me )?with (.+)|how does (.+) work → help $1$2$3
  (?:am i|are we|is (\S+)) allowed to (.+) → why $1 $2
  (?:can|may|could) (?:i |we )?(?:delete|remove) (?!.*volume).+ → why volume delete
  (?:why )?(?:can|can't|cannot|cant|may|could) (?!you )(?:i |we )?(?:not )?(.+) → why $1
  who am i|am i .*|my key → whoami
  who (?:(?:can|may) .*|(?:is|are) (?:admin|operator|approver)s?)|what can \S+ do → settings
  (?:cancel|stop|list|my|where is|where's|is)(?: my)* (?:exports?|file|csv)(?: ready| done)? → export list
  (?:log|sign) ?(?:me )?out|(?:forget|remove|delete) my key → disconnect
  (?:log|sign) ?(?:me )?in → connect
`;

const polite = '(?:(?:please|i (?:want|need)(?: to)?|(?:can|could) you) )*';

/** A sentence, although the first word is the name of a command. */
const startsSentence = new RegExp(
  `^(?:${[
    '(?:show|list|status|forget|can|may) .*',
    'why (?:is|are|do|does|did|was|were|can|so|the|\\d|\\S+ (?:errors?|fail\\w*|down|slow)).*',
    'requests? per .*',
    '(?:alert|digest) (?:me|us|when|if|about|for|of|on) .*',
    'help (?:me.*|with .*|.+ (?:down|failing|broken))',
    'zones? (?:list|failing|failed|(?:by|that|which|with(?:out)?|sorted|missing|near|close to|at|over|of script) .*)',
    'zone \\S+ (?:errors?|fail\\w*|down|slow|5xx)',
  ].join('|')})$`,
  'iu',
);

/** Around the word that names what is wanted. */
const fillers = toSet(
  "a an the any some all every is are was were be been am do does did has have had can could would will should i we me us my our you your it its there that their which what whats when where who whose whos why how hows come many much lot lots often long number status show list get give find search look up see display open tell info details download go goes going please pls plz asap fyi mind yet urgent urgently quick wtf kindly help use uses using run runs running doing check sorted by near close old now currently current latest recent newest really so not still ever again already only but mean enabled anymore under without someone something somebody anybody anyone anything everything nothing users customers customer having getting giving seeing returning says say complain complains complaining want need needs start started stop stopped change update ok okay normal expire expires expiring expired valid soon being know hi hey hello returns gives send i’d i'd like",
);
const prepositions = toSet(
  'of for in on at about with before after from between zone zones pull top most gateway origin url address to cdn site website bot cache',
);
/** They count if nothing else does. */
const weak = toSet(
  'cache cancel set turn switch create add new rename edit enable disable delete remove page zone zones requests script scripts app apps settings start started ok okay yes no this last past report over',
);
function toSet(words: string): ReadonlySet<string> {
  return new Set(words.split(' '));
}

const variableName = /^([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)(?:[=:].*)?$/u;
const timeWords =
  /^(?:\w+day|(?:hour|day|week|month|minute)s?|min|morning|afternoon|evening|night|weekend|\d+(?:[hmdw]|[ap]m|min)|\d+(?::\d+|h\d*-)\S*)$/iu;
/** Beside one of them. */
const aroundTimes = /^(?:this|last|past|since|ago|\d{1,2})$/iu;

const hasTime = (tokens: readonly Token[]): boolean => tokens.some(({ text }) => timeWords.test(text));
const isTime = ({ text }: Token): boolean => timeWords.test(text) || aroundTimes.test(text);

const shapes = readRows(sentences).map(
  ([said, command = '']) => [new RegExp(`^${polite}(?:${said})[.?!]*$`, 'iu'), command] as const,
);
const meant = new Map(readWords(meanings).map(([word = '', commands = '']) => [word, commands.split(' | ')]));
const notes = new Map(readWords(absent).map(([word = '', ...cells]) => [word, cells]));

function readWords(table: string): string[][] {
  return readRows(table).flatMap(([words = '', ...cells]) =>
    words.split(' ').map((word) => [word, ...cells]),
  );
}

function readRows(table: string): string[][] {
  const rows = table.trim().split('\n');
  return rows.map((row) => row.trim().split(' → '));
}

/** One command runs; several are offered, and so is what comes near to something that the bot cannot do (`note`). */
export interface Meaning {
  readonly commands: readonly Words[];
  readonly note?: string | undefined;
}

/** What a line means that does not begin with a command, or does so only by chance. */
export function findMeaning(words: Words, isCommand: (word: string) => boolean): Meaning | undefined {
  // Alone it is the command: `zone` opens its form.
  const text = words.text.replaceAll('’', "'");
  const isAlone = words.tokens.length === 1 || !startsSentence.test(text);
  if (isAlone && isCommand(words.list[0]?.toLowerCase() ?? '')) return undefined;
  const said = text.replace(/(?<=^|\s)(?:the|an?) (?=\S)/giu, '');
  for (const [shape, command] of shapes) {
    const found = shape.exec(said);
    const filled = command.replaceAll(/\$(\d)/gu, (_, at: string) => found?.[Number(at)] ?? '');
    if (found) return { commands: [parseWords(filled)] };
  }
  return findByWord(words, isCommand);
}

const isStatus = /^[45](?:\d\d|xx)s?$/iu;

/** `failures not 502` are not those with 502. */
function isExcluding({ text }: Token, next: Token | undefined): boolean {
  return /^(?:not|without|except)$/iu.test(text) && isStatus.test(next?.text ?? '');
}

/** Without what is around the words that count: `please find shop`. */
export function dropFillers({ raw, tokens }: Words): Words {
  const kept = tokens.flatMap((token, nth): Token[] => {
    if (token.quoted || token.name !== undefined) return [token];
    const text = token.text.replaceAll('’', "'").replace(/'s$|[?!.,;]+$|(?<=^[45](?:\d\d|xx))s$/giu, '');
    const isOfTwo = /^(?:since (?:when)?|right now\W*)$/iu.test(`${text} ${tokens[nth + 1]?.text ?? ''}`);
    const isWord =
      tokens.length > 1 && fillers.has(text.toLowerCase()) && !isExcluding(token, tokens[nth + 1]);
    const isFiller = text === '' || isOfTwo || isWord;
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
  if (kept.length === 0) return words.tokens.length > 0 ? { commands: [parseWords('help')] } : undefined;
  const variable = kept.map(({ text }) => variableName.exec(text)?.[1]).find(Boolean);
  if (variable) return { commands: [parseWords(`variable ${variable}`)] };
  const plain = kept.map(({ text, name, quoted }) => (name || quoted ? '' : text.toLowerCase()));
  const word =
    plain.find((one) => one.startsWith('bunny')) ??
    plain.find(isFailure) ??
    plain.find(isStrong) ??
    plain.find(isKnown);
  if (word === undefined) return undefined;
  const at = plain.indexOf(word);
  const others = kept.map((token, nth) => {
    const other = plain[nth] ?? '';
    // `bandwidth usage of shop`
    const isSame = meant.get(other)?.[0] === meant.get(word)?.[0] && meant.has(word);
    return /^(?:zones?|problems?|issues?|trouble)$/u.test(other) || isSame ? [] : [token];
  });
  const before = others.slice(0, at).flat();
  // `last 5 changes of shop`
  const beforeWord = hasTime(before) ? before : before.filter((token) => !isTime(token));
  const found = [beforeWord, others.slice(at + 1).flat()].flatMap(dropPrepositions);
  // A status says which errors are meant, too.
  const status = kept.filter((token) => isStatus.test(token.text) && !found.includes(token));
  const all = [...found, ...status];
  const excludes = kept.some((token, nth) => isExcluding(token, kept[nth + 1]));
  const rest = !isFailure(word) ? found : excludes ? kept.filter((token) => all.includes(token)) : all;
  const [note, nearest] = notes.get(word) ?? [];
  const itself = /^(?:alert|digest)s?$/u.test(word) ? word : `${word} …`;
  const commands = nearest?.split(' | ') ?? meant.get(word) ?? [itself];
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
export const knownWords: readonly string[] = [...meant.keys()].filter(
  (word) => word.length > 4 && !fillers.has(word),
);

/** No name of anybody or anything. */
export function isPlainWord(word: string): boolean {
  return [fillers, prepositions, weak, meant, notes].some((words) => words.has(word.toLowerCase()));
}

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
