import type { NetworkFailure } from '../../lib/network-failure.ts';
import { mapTexts } from '../../secrets/scanner.ts';

/** `held_back`: the request held a secret and was not sent; `empty`: a file without a byte; `cut`: the body broke off; `unexpected`: a redirect, HTML, or JSON of another shape; `too_large`: more than is read. */
export type ApiErrorCode =
  | 'key_refused'
  | 'refused'
  | 'not_found'
  | 'rate_limited'
  | 'unavailable'
  | 'unreachable'
  | 'timeout'
  | 'cut'
  | 'unexpected'
  | 'too_large'
  | 'empty'
  | 'held_back'
  | 'cancelled';

export type FieldError = { readonly field: string | undefined; readonly message: string };

/** The account's plan does not include the feature (`invalid_plan_type.…`); nothing that was typed is wrong. */
export function isPlanError({ code, status, errorKey = '', serviceMessage = '' }: ApiError): boolean {
  return (
    code === 'refused' &&
    (status === 402 ||
      /plan|subscription|entitle|upgrade/iu.test(errorKey) ||
      /\b(?:plan|subscription|entitle\w*|upgrade)\b/iu.test(serviceMessage))
  );
}

/** Its message holds only fixed words, so it may be logged; it has no cause: ofetch's errors carry the key and the address. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  declare readonly code: ApiErrorCode;
  declare readonly operation: string;
  /** False only if the request certainly never reached the service. */
  declare readonly sent: boolean;
  declare readonly status: number | undefined;
  /** The service's own sentence: one line, bounded, without the key. Foreign text: escape it before showing it. */
  declare readonly serviceMessage: string | undefined;
  declare readonly errorKey: string | undefined;
  readonly fieldErrors: readonly FieldError[] = [];
  /** Cdn-Requestid, to quote to the service's support. */
  declare readonly requestId: string | undefined;
  declare readonly retryAfterSeconds: number | undefined;
  declare readonly network: NetworkFailure | undefined;

  constructor(facts: ApiErrorFacts) {
    super(`${facts.operation}: ${facts.code}${facts.status === undefined ? '' : ` (HTTP ${facts.status})`}`);
    Object.assign(this, facts);
  }
}

export type ApiErrorFacts = Pick<ApiError, 'code' | 'operation' | 'sent'> &
  Partial<Omit<ApiError, keyof Error>>;

export interface ErrorDetails extends Pick<ApiError, 'serviceMessage' | 'errorKey' | 'fieldErrors'> {
  /** `envelope`: the service refused, whatever the status. `none`: no sign of a failure. */
  readonly kind: 'envelope' | 'problem' | 'none';
}

const maxMessageLength = 500;
const noDetails = { serviceMessage: undefined, errorKey: undefined, fieldErrors: [], kind: 'none' } as const;

/** Reads the error bodies of all surfaces. `clean` removes secrets before sentences are truncated. */
export function readErrorBody(raw: unknown, clean?: (text: string) => string): ErrorDetails {
  const cleaned = clean ? mapTexts(raw, clean) : raw;
  if (typeof cleaned === 'string')
    return { ...noDetails, serviceMessage: toSentence(cleaned), kind: 'problem' };
  const body = Array.isArray(cleaned) ? { errors: cleaned } : cleaned;
  if (!isObject(body)) return noDetails;
  const envelopes = [body['error'], body['errorResponse']].map(readEnvelope);
  const envelope = envelopes.find(({ message, errorKey }) => message ?? errorKey);
  const errorKey = toSentence(body['errorKey']) ?? envelope?.errorKey ?? toSentence(body['ErrorKey']);
  const fieldErrors = readFieldErrors(body['errors']);
  const core = toSentence(body['Message']);
  const field = toSentence(body['Field']);
  if (core && field) fieldErrors.push({ field, message: core });
  const problem = core ?? toSentence(body['detail']) ?? toSentence(body['title']);
  const message = problem ?? envelope?.message ?? fieldErrors[0]?.message ?? toSentence(body['message']);
  const isRefusal = envelope ?? toSentence(body['errorKey']);
  const hasErrorStatus = [body['status'], body['statusCode']].some((status) => Number(status) >= 400);
  const isProblem = (errorKey ?? message) !== undefined || hasErrorStatus;
  const kind = isRefusal ? 'envelope' : isProblem ? 'problem' : 'none';
  return { serviceMessage: message, errorKey, fieldErrors, kind };
}

/** 401 and 403 mean the key, unless the body says something else: shield answers a wrong time window with 401. */
export function classifyStatus(status: number, words: ErrorDetails, isHtml: boolean): ApiErrorCode {
  // A web page with 403 comes from a firewall in between.
  if (status === 401 || (status === 403 && !isHtml)) return isAboutKey(words) ? 'key_refused' : 'refused';
  if (status === 429) return 'rate_limited';
  if (status >= 500 || status === 408) return 'unavailable';
  if (status < 400 || isHtml) return 'unexpected';
  return status === 404 ? 'not_found' : 'refused';
}

const keyWords =
  /authori[sz]|authenti|\bkeys?\b|token|permission|forbidden|access denied|\brole|privilege|sign(?:ed)? in|\blog(?:ged)? ?in\b/iu;
/** With these no word of `otherCauses` matters. */
const surelyKey = /\b(?:api|access|account|your)[ -]?keys?\b|accesskey|credential/iu;
/** `The key expired 3 days ago`, but not of the continuation token. */
const endedKey =
  /(?<!\b(?:cache|continuation|filter|next|page|query|sort)[ -]?)\b(?:key|token|jwt|session|password|authentication)s?(?: \w+){0,4} (?:expired|revoked|disabled|deleted|rotated|reset|replaced|deactivated|no longer|too old|valid (?:only )?until)\b|\b(?:expired|revoked|disabled|deactivated)(?: (?!cache|continuation)\w+)? (?:key|token|jwt|session|password)s?\b/iu;
const otherCauses =
  /\b(?:window|range|hours?|days?|dates?|plan|subscription|filters?|fields?|too many|too long|suspended|continuation|cache|unexpected|limit|quota|ip|address|country|region|blocked|billing|payment|balance|funds)\b/iu;

/** Whether the key can be the reason: nothing is said, or something about keys and rights. An error key tells more. */
function isAboutKey({ kind, serviceMessage = '', errorKey = '', fieldErrors }: ErrorDetails): boolean {
  if (kind === 'envelope' && errorKey !== '') return false;
  const message = fieldErrors.length > 0 ? fieldErrors.map((one) => one.message).join(' ') : serviceMessage;
  const words = `${message} ${errorKey.replaceAll('_', ' ')}`;
  if (words.trim() === '' || isKeyRefusal(words)) return true;
  return keyWords.test(words) && !otherCauses.test(words);
}

/** Whether the key itself is refused, and not what it may do. */
export function isKeyRefusal(words: string): boolean {
  return surelyKey.test(words) || endedKey.test(words);
}

/** Says no more than the status does. */
export const genericRefusal = /^(?:unauthori[sz]ed|forbidden|authorization has been denied.*)\.?$/iu;

export function toSentence(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined;
  const line = value
    .slice(0, maxMessageLength * 4)
    .replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
    .trim();
  if (line === '') return undefined;
  return line.length > maxMessageLength ? `${line.slice(0, maxMessageLength).toWellFormed()}…` : line;
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function readEnvelope(value: unknown): { message: string | undefined; errorKey: string | undefined } {
  // A success may carry a default object: {"statusCode":0,"success":false,"message":null,"errorKey":null}.
  if (!isObject(value)) return { message: toSentence(value), errorKey: undefined };
  if (value['success'] === true) return { message: undefined, errorKey: undefined };
  return { message: toSentence(value['message']), errorKey: toSentence(value['errorKey']) };
}

/** `[{field, message}]`, or the framework's `{field: [messages]}`. At most 20. */
function readFieldErrors(value: unknown): FieldError[] {
  const given: (readonly [field: unknown, message: unknown])[] = Array.isArray(value)
    ? value.map((item: unknown) =>
        isObject(item)
          ? [item['field'] ?? item['Field'], item['message'] ?? item['Message']]
          : [undefined, item],
      )
    : Object.entries(isObject(value) ? value : {}).map(([field, messages]) => [
        field,
        Array.isArray(messages) ? messages[0] : messages,
      ]);
  return given.slice(0, 20).flatMap(([field, message]) => {
    const sentence = toSentence(message);
    return sentence ? [{ field: toSentence(field), message: sentence }] : [];
  });
}

/** Members that are empty where a write succeeded, and succeeded whole. */
const failureNames =
  /error|^err|exception|fail|(?<!de)fault|problem|warn|message|^msg|detail|title|reason|partial|incomplete|remain|skip|pending|progress|refus|reject|denied|ignored|invalid|conflict|cancel|abort|roll(?:ed)?_?back|revert|unchanged|no_?(?:op|change)|queued|scheduled|staged|draft|defer|delay|wait|retry|timed_?out|dry_?run|simulat|preview|more|next|continuation|(?:not|un)_?(?:delet|remov|updat|sav|chang|appl|modif|stor|done|found|allowed|accepted|success)/iu;
const outcomeNames =
  /(?:status|state|result|outcome|success(?:ful)?|accepted|deleted|removed|updated|saved|changed|applied|modified|stored|affected|confirmed|committed|persisted|ack(?:nowledged)?|done|completed?|valid|^ok|^(?:http_?|response_?)?(?=code))(?:code|count|text)?$/iu;
const countNames =
  /^(?:deleted|removed|updated|saved|changed|applied|modified|stored|affected)_?(?:count)?$/iu;
const outcomeWords = /^(?:true|1|20[04]|\d{4}-\d\d-\d\dT\S+)$/u;
const goodWords = /^(?:ok|true|success(?:ful(?:ly)?)?|succeeded|done|completed?|20[04])?$/iu;
const saidNames = /^(?:message|detail|title)$/iu;
/** `Variable updated successfully.`, of these words and the variable's name alone. */
const goodSentence =
  /^(?:(?:variable ["'`]?[a-z\d]+(?:_[a-z\d]+)+["'`]?(?= (?:was|has|updated|saved|changed))|the|your|all|default|values?|variables?|volumes?|instances?|operation|changes?|request|was|were|has|have|been|ok|success(?:ful(?:ly)?)?|deleted|removed|updated|saved|changed|applied|stored|completed)(?:[ .!]+|$))+$/iu;
const failingWords =
  /(?:^|[\s"'(:_])(?:not|nothing|never|cannot|\w+n[’']t|unable|still|fail\w*|error\w*|refus\w*|reject\w*|denied|invalid|conflict\w*|locked|revert\w*|rolled|ignored|skipped|unchanged|pending|queued|scheduled|start\w*|partial\w*|abort\w*|cancel\w*|expired|exceed\w*|again|retry|read-only)(?=[\s.,:;!)"']|$)/iu;
/** Other members beside what was deleted leave it unclear: `inUse: true`. */
const neutralNames =
  /(?:^\d*|ids?|names?|^(?:creat|delet|remov|updat)ed_?at|time|timestamp|date|duration|elapsed|took|ms|seconds|size|bytes|gb|total|count|page|url|path|version|region|type|kind|apps?|volumes?|instances?)$/iu;
/** A setting's value may be one that we do not know. */
const valueNames = /value|secret|token|key/iu;

const writes = {
  change: {
    undone: /deleted|removed/iu,
    good: /^(?:updated|saved|changed|applied|modified|stored|active|enabled|published|live|ready)$/iu,
  },
  deletion: { undone: /attached|left|locked/iu, good: /^(?:deleted|removed)$/iu },
};
export type Write = keyof typeof writes;

/**
 * What the answer to a write says about a failure, whatever else it holds: `status: failed`. It may hold secrets. Where
 * it shows the whole resource, a text is part of that unless it speaks of a failure.
 */
export function findFailureWords(
  answer: unknown,
  write: Write,
  isWhole = false,
  path: readonly string[] = [],
): string | undefined {
  if (typeof answer === 'object' && answer !== null) {
    const isList = Array.isArray(answer);
    const found = Object.entries(answer).map(([name, inner]) =>
      findFailureWords(inner, write, isWhole, isList ? path : [...path, name]),
    );
    return found.find((words) => words !== undefined);
  }
  const { undone, good } = writes[write];
  const [name = ''] = path.slice(-1);
  const names = path.join(' ');
  const isValue = valueNames.test(name);
  const said = typeof answer === 'string' ? answer.trim() : '';
  const word = said || JSON.stringify(answer);
  const isFailing = failingWords.test(said) || undone.test(said);
  const isSentence = goodSentence.test(said) ? !undone.test(said) : isWhole && !isFailing;
  const isText = typeof answer === 'string' && (goodWords.test(said) || good.test(said));
  const isGood = answer === null || isText || (saidNames.test(names) && said !== '' && isSentence);
  const isNothing = /^(?:false|0|none)$/iu.test(word);
  const isUnclear = write === 'deletion' && !neutralNames.test(name) && !isGood && !isNothing;
  const isFailure =
    failureNames.test(names) || undone.test(names)
      ? !isGood && !isNothing
      : outcomeNames.test(name)
        ? !isGood && !outcomeWords.test(word) && !(countNames.test(name) && Number(answer) > 0)
        : (isFailing && !isValue && !/name$/iu.test(name)) || isUnclear;
  return isFailure ? `${path.join('.')}: ${isValue ? 'not shown' : JSON.stringify(answer)}` : undefined;
}

export function isHtml(contentType: string | null, text: string): boolean {
  return /^\s*text\/html/i.test(contentType ?? '') || /^\s*<(!doctype|html)/i.test(text);
}
