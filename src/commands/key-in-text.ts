/**
 * Whether something in this text looks like a key: to be asked before text that people typed is logged or echoed.
 * Knows the shapes CDN keys have (groups of hex with dashes) and long words that nobody would make up. A plain UUID
 * counts as well: whether one may stand as an id after a command is for `findCommand` to say.
 */
export function looksLikeKey(text: string): boolean {
  return holdsUuid(text) || hasSecret(text);
}

/** Like `looksLikeKey`, but UUIDs pass where they may be an id: apps and volumes have them, and zones a tenant each. */
export function hasSecret(text: string): boolean {
  return candidates(text).some((word) => isHexGroups(word) || isMarkedUuid(word) || isRandom(word));
}

/**
 * Whether a CDN key stands in a text typed into a form. Only the shapes that keys have, and what calls itself one:
 * fields take ids, fingerprints and parts of URLs, which look as if nobody had made them up.
 */
export function hasCdnKey(text: string): boolean {
  // Phones and web pages put other dashes, and signs that nobody sees.
  const plain = text
    .normalize('NFKC')
    .replaceAll(/[\u00AD\u200B-\u200F\u2060\uFEFF]/gu, '')
    .replaceAll(/\p{Pd}/gu, '-');
  const groups = plain.match(/[\da-f]{4,}(?:-[\da-f]{4,}){4,}/giu) ?? [];
  const words = candidates(plain).flatMap((word) => word.split('/'));
  return (
    groups.some((found) => found.length > uuidLength && /\d/u.test(found)) ||
    words.some((word) => uuid.test(word) && word.length > uuidLength && /key|secret|token/iu.test(word))
  );
}

const uuidLength = 36;
const uuid = /(?<![\da-f])[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}(?![\da-f])/iu;

function holdsUuid(text: string): boolean {
  return candidates(text).some((word) => uuid.test(word));
}

/** Pieces that a key would be whole in: `AccessKey:…`, `key=…` and quotes come off. */
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

/** A UUID with more around it that no name of a zone would have: capitals, or a word that says what it is. */
function isMarkedUuid(word: string): boolean {
  return (
    uuid.test(word) && word.length > uuidLength && (/[A-Z]/u.test(word) || /key|secret|token/iu.test(word))
  );
}

/** Hostnames and paths are long too; their parts are looked at one by one, and words people make up hold together. */
function isRandom(word: string): boolean {
  return word.split(/[./@-]/u).some((part) => {
    if (part.length < 20) return false;
    const changes = (part.match(/\d(?=[a-z])|[a-z](?=\d)/giu) ?? []).length;
    const cases = (part.match(/[a-z](?=[A-Z])|[A-Z](?=[a-z])/gu) ?? []).length;
    return changes >= 5 || (changes >= 2 && cases >= 5) || cases >= 9;
  });
}
