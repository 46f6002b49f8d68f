/** Whether a typed text may hold a key: call it before it is logged or echoed. Plain UUIDs count. */
export function looksLikeKey(text: string): boolean {
  return candidates(text).some((word) => uuid.test(word)) || hasSecret(text);
}

/** Like `looksLikeKey`, but plain UUIDs are allowed. */
export function hasSecret(text: string): boolean {
  return candidates(text).some(
    (word) => slackToken.test(word) || isHexGroups(word) || isMarkedUuid(word) || isRandom(word),
  );
}

/** Whether a form's text holds a CDN key. Fields also take ids and URLs, so only shapes of keys count. */
export function hasCdnKey(text: string): boolean {
  // Only from where a run of hex begins: tried from each of its characters, 40,000 of them took seven seconds.
  const groups = toPlain(text).match(/(?<![\da-f])[\da-f]{4,}(?:-[\da-f]{4,}){4,}/giu) ?? [];
  const words = candidates(text).flatMap((word) => word.split('/'));
  return (
    groups.some((found) => found.length > uuidLength && /\d/u.test(found)) ||
    words.some((word) => uuid.test(word) && /key|secret|token/iu.test(word))
  );
}

const slackToken = /(?:xox[a-z]|xapp)-\d/iu;
const uuidLength = 36;
const uuid = /(?<![\da-f])[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}(?![\da-f])/iu;

/** Programs that keys are copied from add invisible characters, and dashes of their own. */
function toPlain(text: string): string {
  const visible = text.replaceAll(/[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu, '');
  return visible.normalize('NFKC').replaceAll(/\p{Pd}/gu, '-');
}

function candidates(text: string): string[] {
  return toPlain(text)
    .split(/[\s"'`“”‘’<>|,;:=?&()[\]{}]+/u)
    .filter((word) => word.length >= 20);
}

/** An account key is two UUIDs run together (72 characters), a storage key a longer one (41). */
function isHexGroups(marked: string): boolean {
  // Slack's marks of bold, italic and struck text.
  const word = marked.replaceAll(/[*_~]/gu, '');
  const dashes = (word.match(/-/gu) ?? []).length;
  return (
    /^[\da-f-]{32,}$/iu.test(word) &&
    /\d/u.test(word) &&
    dashes !== 1 &&
    !(uuid.test(word) && word.length === uuidLength)
  );
}

/** A UUID with capitals or a word such as `key` around it. */
function isMarkedUuid(word: string): boolean {
  return (
    uuid.test(word) && word.length > uuidLength && (/[A-Z]/u.test(word) || /key|secret|token/iu.test(word))
  );
}

/** Checks the parts of hostnames and paths one by one: random parts change often between kinds of characters. */
function isRandom(word: string): boolean {
  return word.split(/[./@-]/u).some((part) => {
    if (part.length < 20) return false;
    const changes = (part.match(/\d(?=[a-z])|[a-z](?=\d)/giu) ?? []).length;
    const cases = (part.match(/[a-z](?=[A-Z])|[A-Z](?=[a-z])/gu) ?? []).length;
    return changes >= 5 || (changes >= 2 && cases >= 5) || cases >= 9;
  });
}
