const shortest = 6;

/** Whether this value can only be there by a leak: no plain word, number or host name. */
export function isDistinctive(value: string): boolean {
  if (value.length < shortest || isHost.test(value)) return false;
  if (value.length >= 16) return true;
  const mixesCases = /[a-z]/u.test(value) && /.[A-Z]/u.test(value);
  const kinds = [/[a-z]/iu, /\d/u, /[^\w\s.-]/u].filter((kind) => kind.test(value)).length;
  return kinds >= 2 || (mixesCases && kinds >= 1);
}

const isHost = /^(?:https?:\/\/)?(?:[a-z\d-]+\.)+[a-z]{2,}\.?(?::\d+)?\/?$/iu;

/** The lower-case spellings of a secret: escaped, in base64 and hexadecimal; long ones in pieces, since half a key is a leak too. */
export function encodingsOf(value: string): readonly string[] {
  const parts = piecesOf(value).filter(isDistinctive);
  const pieces = parts.length > 0 ? parts : [value];
  const spelled = [...pieces.flatMap(listEscapedForms), ...listEncodedForms(pieces[0] ?? value)];
  const forms = spelled.map((form) => form.toLowerCase());
  return forms.filter(
    (form, nth) => form.length >= Math.min(shortest, value.length) && forms.indexOf(form) === nth,
  );
}

/** The spellings of the whole value, to be masked before its pieces. */
export function wholeEncodings(value: string): readonly string[] {
  return listEscapedForms(value).map((form) => form.toLowerCase());
}

const pieceLength = 24;
const mostPieces = 4;

/** A piece of each line that is long enough (certificates), or of a long value every third of it. */
function piecesOf(value: string): string[] {
  const lines = value
    .split(/[\r\n]+/u)
    .filter((line) => line.length >= pieceLength && !line.startsWith('-----'));
  if (lines.length > 1) return lines.slice(0, mostPieces).map((line) => line.slice(0, pieceLength));
  if (value.length < 2 * pieceLength - 8) return [value];
  const count = Math.min(mostPieces, Math.floor(value.length / 20));
  const step = (value.length - pieceLength) / (count - 1);
  return Array.from({ length: count }, (_, nth) => {
    const start = Math.floor(nth * step);
    return value.slice(start, start + pieceLength);
  });
}

function listEscapedForms(piece: string): string[] {
  if (/^[\w.-]*$/u.test(piece)) return [piece];
  const slack = piece.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  const once = quote(piece);
  const spelled = [piece, once, quote(once), slack];
  const form = new URLSearchParams({ v: piece }).toString().slice(2);
  return [
    ...spelled,
    quote(slack),
    slack.replaceAll('`', 'ˋ').replaceAll(/\s+/gu, ' '),
    slack.replaceAll('"', '&quot;').replaceAll("'", '&#39;'),
    form,
    encodeURIComponent(piece.toWellFormed()),
    new URLSearchParams({ v: once }).toString().slice(2),
    new URLSearchParams({ v: slack }).toString().slice(2),
  ];
}

function quote(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

function listEncodedForms(piece: string): string[] {
  const hex = Buffer.from(piece).toString('hex');
  const bytes = hex.length / 2;
  const base64 = ['', '\0', '\0\0'].map((before, offset) => {
    const encoded = Buffer.from(before + piece).toString('base64');
    return encoded.slice(Math.ceil((offset * 8) / 6), Math.floor(((offset + bytes) * 8) / 6));
  });
  return [hex, ...base64].flatMap((form) =>
    /[+/]/u.test(form)
      ? [form, form.replaceAll('+', '-').replaceAll('/', '_'), encodeURIComponent(form)]
      : form,
  );
}
