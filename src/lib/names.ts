// Characters that nobody sees: controls, joiners, marks of direction, fillers. U+2800 is an empty Braille pattern.
const invisible = /[\p{Cc}\p{Cf}\p{Cs}\p{Default_Ignorable_Code_Point}\u2800]/gu;

/** `0301` → `301`. */
export function trimZeros(id: string): string {
  return id.replace(/^0+(?=\d+$)/u, '');
}

/** The stored and shown form of a name: one line in composed Unicode, without invisible characters. */
export function cleanName(typed: string): string {
  return typed
    .replace(/[\s\u0085]+/gu, ' ')
    .replace(invisible, '')
    .normalize('NFC')
    .replace(/ +/gu, ' ')
    .trim();
}

/** Digits and signs of other keyboards: full width, Arabic digits, look-alikes of colons. Phones write `--` as a long dash. */
export function toPlainSigns(text: string): string {
  return toPlainDigits(text)
    .replaceAll(/[\uFF01-\uFF5E]/gu, (sign) => sign.normalize('NFKC'))
    .replaceAll(/[—―]/gu, '--')
    .replaceAll(/[\p{Pd}−]/gu, '-')
    .replaceAll(/[∶ː꞉]/gu, ':');
}

function toPlainDigits(text: string): string {
  return text.replaceAll(/[^\P{Nd}\d]/gu, (digit) => {
    const at = digit.codePointAt(0) ?? 0;
    // The ten digits of a script follow each other.
    let value = 0;
    while (value < 9 && /\p{Nd}/u.test(String.fromCodePoint(at - value - 1))) value += 1;
    return String(value);
  });
}

/** Names with the same key are one: case, width, composition, invisible characters and look-alikes do not matter. */
export function toNameKey(name: string): string {
  return fold(name).replaceAll(/[^a-z\d\s]/gu, (letter) => lookAlikes.get(letter) ?? letter);
}

/** Names with the same look are taken for each other in some font: `check0ut`, `shopI`. Only one of them is given. */
export function toLook(name: string): string {
  return toNameKey(name).replaceAll('0', 'o').replaceAll(/[1i|]/gu, 'l');
}

function fold(name: string): string {
  const small = cleanName(name).normalize('NFKC').toUpperCase().toLowerCase().normalize('NFKC');
  // An `i` looks the same with another dot, which a Turkish `İ` leaves.
  return cleanName(toPlainDigits(small).replaceAll(/(?<=[ij])\u0307/gu, ''));
}

/** Letters of other alphabets, and signs, that look like another one in one of their two cases. */
const lookAlikes = new Map(
  [
    ['асеорхуѕіјһԁԛԝӏкмтнвѵьɑɡĸƅ', 'aceopxysijhdqwlkmthbvbagkb'],
    ['αβεζηικμνορτυχ', 'abezhikmnoptyx'],
    ['օոսհցյզտ', 'onuhgjqs'],
    ['ᎪᏴᏟᎠᎬᏀᎻᎥᎫᏦᏞᎷᏢᎡᏚᎢᏙᎳᏃ', 'abcdeghijklmprstvwz'],
    ['ꓮꓐꓚꓓꓰꓝꓖꓧꓲꓙꓗꓡꓟꓠꓳꓑꓣꓢꓔꓴꓦꓪꓫꓬꓜ', 'abcdefghijklmnoprstuvwxyz'],
    ['ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢ', 'abcdefghijklmnoprstuvwyz'],
    ['‐‒–—−⁃’‘ʼ`⁄∕∶', "------''''//:"],
  ].flatMap(([from = '', to = '']) =>
    Array.from(fold(from), (letter, nth) => [letter, to[nth] ?? letter] as const),
  ),
);

/** Latin and other letters in one word: one may stand for a look-alike (`сheckout` with a Cyrillic `с`). East Asia mixes them. */
export function mixesAlphabets(name: string): boolean {
  return fold(name)
    .split(/[^\p{L}\p{M}]+/u)
    .some((word) => /\p{Script=Latin}/u.test(word) && otherLetter.test(word));
}

const otherLetter =
  /(?=\p{L})[^\p{Script=Latin}\p{Script=Han}\p{Script=Hira}\p{Script=Kana}\p{Script=Hang}\p{Script=Bopo}\p{Script=Zyyy}\p{Script=Zinh}]/u;

/**
 * A number, also as programs write one (`0x1F5`, `1e3`) or with letters in place of digits (`5O1`), a UUID, or letters and digits
 * as in the ids that the CDN gives to apps.
 */
export function looksLikeId(typed: string): boolean {
  const key = toNameKey(typed).replace(
    /^(?:(?:id|n[or]|n°)(?![a-z])|(?:number|app|script|shield|zone)(?![a-z\d]))/u,
    '',
  );
  return (
    [key, cleanName(typed)].some((form) => /\p{N}/u.test(form) && !/\p{L}/u.test(form)) ||
    /^[^\p{L}\p{N}]*(?:0[box][\da-f]+|\d[\d.,_]*e[-+]?\d+|[oil]*\d[\doil]*|[〇一二三四五六七八九十百千万]+)[^\p{L}\p{N}]*$/u.test(
      key,
    ) ||
    /^[\da-f]{32}$/u.test(key.replaceAll(/[^\da-z]/gu, '')) ||
    key.split(' ').some((word) => /^(?=.*\d)(?=.*[a-z])[\da-z]{12,20}$/u.test(word))
  );
}
