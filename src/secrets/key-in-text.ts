/**
 * Whether a text may hold a key; call it before typed text is logged or echoed. Recognises the shapes of CDN keys (groups
 * of hex with dashes), long random words, and plain UUIDs, which `findCommand` allows as ids after some commands.
 */
export function looksLikeKey(text: string): boolean {
  return candidates(text).some((word) => uuid.test(word)) || hasSecret(text);
}

/** Like `looksLikeKey`, but plain UUIDs are allowed: apps, volumes and tenants have such ids. */
export function hasSecret(text: string): boolean {
  return candidates(text).some((word) => isHexGroups(word) || isMarkedUuid(word) || isRandom(word));
}

/**
 * Whether a text typed into a form holds a CDN key. Only the shapes of keys and words that name one count, since fields
 * also take ids, fingerprints and parts of URLs.
 */
export function hasCdnKey(text: string): boolean {
  // Phones and web pages insert other dashes and invisible characters.
  const plain = text
    .normalize('NFKC')
    .replaceAll(/[\u00AD\u200B-\u200F\u2060\uFEFF]/gu, '')
    .replaceAll(/\p{Pd}/gu, '-');
  // Only from where a run of hex begins: tried from each of its characters, 40,000 of them took seven seconds.
  const groups = plain.match(/(?<![\da-f])[\da-f]{4,}(?:-[\da-f]{4,}){4,}/giu) ?? [];
  const words = candidates(plain).flatMap((word) => word.split('/'));
  return (
    groups.some((found) => found.length > uuidLength && /\d/u.test(found)) ||
    words.some((word) => uuid.test(word) && word.length > uuidLength && /key|secret|token/iu.test(word))
  );
}

const uuidLength = 36;
const uuid = /(?<![\da-f])[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}(?![\da-f])/iu;

/** The words that are long enough for a key, without `AccessKey:…`, `key=…` and quotes. */
function candidates(text: string): string[] {
  return text.split(/[\s"'`“”‘’<>|,;:=?&()[\]{}]+/u).filter((word) => word.length >= 20);
}

/** An account key is two UUIDs run together (72 characters), a storage key a longer one (41). */
function isHexGroups(word: string): boolean {
  const dashes = (word.match(/-/gu) ?? []).length;
  return (
    /^[\da-f-]{32,}$/iu.test(word) &&
    /\d/u.test(word) &&
    dashes !== 1 &&
    !(uuid.test(word) && word.length === uuidLength)
  );
}

/** A UUID with something around it that no zone's name has: capitals, or a word such as `key`. */
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
