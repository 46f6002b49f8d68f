/** Common words and sentences, each with the command that answers it. Names and short forms stand with the command. */

import { toWords, type Words } from './words.ts';

/** `…` stands for the words behind it. One meaning runs at once; several are offered as buttons. */
const meanings: readonly (readonly [said: string, ...commands: string[]])[] = [
  ['billing bill charges money price spend expensive', 'zones sort:charges …'],
  ['cost costs', 'zones sort:charges …', 'app …'],
  ['top biggest busiest traffic usage bandwidth', 'zones sort:bandwidth …'],
  ['attention problems problem trouble', 'zones only:attention …'],
  ['certificate certificates cert certs ssl https', 'zones only:no-certificate …', 'zone … hostnames'],
  ['tls', 'zones only:old-tls …'],
  ['limit limits quota', 'zones only:above-80 …'],
  ['suspended', 'zones only:suspended …'],
  ['disabled', 'zones only:disabled …'],
  ['hostname hostnames domain domains origin', 'zone …'],
  ['logs log', 'zone … logging', 'errors …', 'export …', 'audit'],
  ['logging', 'zone …'],
  ['fails failing failed failure failures broken down outage 5xx 502 503 504', 'errors …'],
  ['alarm alarms incident incidents snooze mute acknowledge ack', 'alert'],
  ['schedule schedules summary report reports', 'digest'],
  ['shield waf firewall ddos bots attacks csv', 'export …'],
  ['malware virus viruses uploads', 'scanning'],
  ['cpu memory latency instances replicas', 'app …'],
  ['script scripts', 'variable …', 'zones script:…'],
  ['set env environment feature flag', 'variable …'],
  ['undo revert rollback', 'variable undo'],
  ['delete remove', 'volume delete …'],
  ['approve deny waiting pending request', 'approvals'],
  ['rights permissions permission roles role', 'whoami'],
  ['allowed', 'why'],
  ['operators approvers admins people caps', 'settings'],
  ['key token apikey', 'connect', 'whoami', 'keys'],
  ['version ping test health check', 'doctor'],
];

const failing =
  '(?:failing|fails?|failed|down|broken|breaking|dead|erroring|throwing errors|(?:having|getting) (?:errors|problems)|not working|so slow|slow|break|broke|go down|stop(?:ped)? working)';

/** `zones failing`, `zones without logging`: a sentence, although it begins with a command. */
export const zoneSentence = new RegExp(
  `^zones? (?:(?:that (?:are |is )?)?${failing}|(?:with(?:out| no)|missing|near|at|close to|over|above) .*)$`,
  'iu',
);

/** `$1` is what the sentence is about. The first that fits counts. */
const sentences: readonly (readonly [said: string, command: string])[] = [
  [
    `(?:why )?(?:is |are )?(?:nothing|everything|all|the (?:cdn|site)) (?:is )?(?:working|${failing})`,
    'errors',
  ],
  [
    `(?:why|how come|(?:since )?when)(?: is| are| does| do| did)? (?:the )?(?:zone )?(.+?)(?: zone)?(?: is| are)? ${failing}( .*)?`,
    'errors $1$2',
  ],
  [`(?:is|are) (?:the )?(?:zone )?(.+?) ${failing}( .*)?`, 'errors $1$2'],
  [
    '(today|yesterday|(?:mon|tues|wednes|thurs|fri|satur|sun)day|last (?:hour|night)|this morning)',
    'errors $1',
  ],
  ["what(?:’s| is|'s|s) (?:wrong|up|going on) (?:with|in|at) (?:the )?(?:zone )?(.+)", 'errors $1'],
  [
    `(?!(?:what|which|who|why|may|can|status|show|list|zones?)\\b)(\\S+) (?:is |are )?(?:${failing}|errors?|errs)`,
    'errors $1',
  ],
  [`(?:what|which zones?|who)(?:’s| is| are)? ${failing}`, 'errors'],
  [
    '(?:is|are) (?:everything|all|all zones) (?:ok|okay|fine|up|good|alright|healthy)',
    'zones only:attention',
  ],
  [
    '(?:is|are) (?:the )?(?:zone )?(\\S+) (?:ok|okay|fine|up|good|alive|healthy|online|working)( .*)?',
    'errors $1$2',
  ],
  [`zones? (?:that (?:are |is )?)?${failing}`, 'errors'],
  ['what (?:is )?bro(?:ke|ken)', 'errors'],
  ['(?:who|what) broke (?:the )?(?:zone )?(.+)', 'changes $1'],
  ['how much (?:traffic|bandwidth|data).*', 'zones sort:bandwidth'],
  ['how much (?:(?:does|do|did|will) .*)?(?:cost|pay|spend|money).*', 'zones sort:charges'],
  ['zones? (?:without|with no|missing) (?:an? )?(logging|certificate)s?', 'zones only:no-$1'],
  ['zones? (?:near|at|close to|over|above) (?:the |their |an? )?limits?', 'zones only:above-80'],
  ['(?:status|state|health)(?: of| for)? (?:the )?(?:zone )?(.+)', 'zone $1'],
  ["(?:how is|how’s|how's) (?:the )?(?:zone )?(.+?)(?: doing)?", 'zone $1'],
  ['(?:all )?(?:pull )?zones?(?: list)?', 'zones'],
  ['show me (?:the )?(?:zone )?(.+)', 'zone $1'],
  ['what changed(?: (?:in|on|for|at|with))? (?:the )?(?:zone )?(.+)', 'changes $1'],
  ['(?:what(?:’s| has|) changed|what is new)', 'changes'],
  ['who changed (?:the )?(?:zone )?(.+)', 'changes $1'],
  ['(?:what|which zones?) needs? attention', 'zones only:attention'],
  ['undo (?:that|this|it|(?:the |my )?last(?: change)?)', 'variable undo'],
  [
    '(?:set|change|update|flip|toggle) (?:the )?(?:variable )?([A-Za-z_]\\w*)(?:(?: to| =|=|:)? .*)?',
    'variable $1',
  ],
  ['(?:turn|switch) (?:on|off) (?:the )?(?:variable )?(\\w+)', 'variable $1'],
  ['(?:turn|switch) (?:the )?(?:variable )?(\\w+) (?:on|off)', 'variable $1'],
  ['(?:enable|disable) ([A-Z][A-Z0-9_]+)', 'variable $1'],
  // Names of commands and zones have no underscore.
  ['([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)', 'variable $1'],
  ['(?:delete|remove) (?:the )?volume (\\S+) (?:of|from|in) (?:the )?(?:app )?(\\S+)', 'volume delete $2 $1'],
  ['(?:delete|remove) (?:a |the )?volumes?', 'volume delete'],
  ['(?:delete|remove) (?:a |the )?volume (\\w+-\\S+)', 'volume delete $1'],
  ['(?:delete|remove) (?:a |the )?volume (\\S+)', 'volume delete'],
  [
    '(?:new|add|create|make|set up)? ?(?:an? )?(?:new )?(daily|weekly|monthly)? ?(digest|alert)(?: (?:for|of|on|about|if|when))( .*)',
    '$2 new $1$3',
  ],
  [
    '(?:new|add|create|make|set up|(?=daily|weekly|monthly)) ?(?:an? )?(?:new )?(daily|weekly|monthly)? ?(digest|alert)( .*)?',
    '$2 new $1$3',
  ],
  [
    '(?:which |what )?(?:cert|certificate)s? (?:that )?(?:expires?|ends?|expiring|ending)(?: soon)?',
    'alert new certificate ends',
  ],
  ['(?:tell|notify|warn|alert|ping|message) (?:me|us) (?:when|if|once|about|of)( .*)', 'alert new$1'],
  ['(?:let me|let us) know (?:when|if|once)( .*)', 'alert new$1'],
  ['(?:stop|mute|pause|edit|change|delete|remove) (?:an? |the |my |all )?(alert|digest)s?', '$1 list'],
  ['who am i|am i (?:an? )?(?:admin|operator|approver)', 'whoami'],
  ['(?:can|may|could) i (?!do\\b)(.+)', 'why $1'],
  [
    'who (?:(?:can|may) (?:approve|decide).*|(?:is|are) (?:an? |the )?(?:admin|operator|approver)s?)',
    'settings',
  ],
  ['how (?:do|can|would) (?:i|we|you) (.+)', 'help $1'],
  ['cancel (?:an? |the |my )?exports?', 'export list'],
  ['(?:log|sign) me out|(?:log|sign) ?out', 'disconnect'],
  ['please help(?: me| us)?|(?:list|show) everything', 'help'],
  ['what (?:can|may|am) (?:i|you)(?: allowed to)?(?: do| run)?(?: here)?', 'help'],
  ['(?:hi|hey|hello|good (?:morning|evening)|thanks|thank you|thx)(?: there)?', 'help'],
  ['my (?:permissions|rights|roles?|key)', 'whoami'],
  ['check a permission', 'why'],
  ['my (?:requests|approvals)', 'approvals'],
  ['(?:what|anything) (?:is )?(?:waits|waiting|to approve)(?: for me)?', 'approvals'],
  ['(?:forget|remove|delete) my key', 'disconnect'],
];

const shapes = sentences.map(([said, command]) => [new RegExp(`^${said}[.?!]*$`, 'iu'), command] as const);
const meant = new Map(
  meanings.flatMap(([said, ...commands]) => said.split(' ').map((word) => [word, commands])),
);

export function findSentence(text: string): string | undefined {
  for (const [shape, command] of shapes) {
    const found = shape.exec(text);
    if (found) return command.replaceAll(/\$(\d)/gu, (_, at: string) => found[Number(at)] ?? '');
  }
  return undefined;
}

/** The likeliest first. */
export function findMeanings(word: string): readonly string[] {
  return meant.get(word.toLowerCase()) ?? [];
}

/** `shop cert`, `cert of shop` → `cert shop`; `suspended zones` → `suspended`. */
export function putMeaningFirst(words: Words): Words {
  const [first, last, ...others] = words.tokens.filter(({ text }) => !/^(?:of|for|zones?)$/iu.test(text));
  if (!first || others.length > 0) return words;
  if (!last) return toWords(words.raw, [first]);
  const isBehind = findMeanings(first.text).length === 0 && findMeanings(last.text).length > 0;
  return toWords(words.raw, isBehind ? [last, first] : [first, last]);
}

/** For the search of help. */
export function findWordsFor(name: string): string[] {
  return [...meant].flatMap(([word, commands]) =>
    commands.some((one) => one.split(' ')[0] === name) ? [word] : [],
  );
}
