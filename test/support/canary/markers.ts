import { canaryMark } from '../../../simulator/cdn/canaries.ts';

// What follows the mark in this world's secrets; case is ignored then, since some code lower-cases what it shows.
const kinds =
  /canary-(?:full|restricted|zone|aws|log|origin|edge|extra|certificate|api-key|variable|request|typed|env|unknown|echo|url)/iu;

const encodedMarks = [0, 1, 2].map((offset) =>
  Buffer.concat([Buffer.alloc(offset), Buffer.from(`${canaryMark}-`)])
    .toString('base64')
    .slice(Math.ceil((offset * 8) / 6), Math.floor(((offset + canaryMark.length + 1) * 8) / 6)),
);
const hexMark = Buffer.from(`${canaryMark}-`).toString('hex');

/** What of the planted secrets a text holds, in any spelling; `others` are secrets that cannot hold the mark. */
export function findMarks(text: string, others: readonly string[]): string[] {
  const found: string[] = [];
  const around = (at: number): string => text.slice(Math.max(0, at - 120), at + 60);
  const at = [
    text.indexOf(canaryMark),
    text.search(kinds),
    ...encodedMarks.map((mark) => text.indexOf(mark)),
  ];
  at.push(text.toLowerCase().indexOf(hexMark));
  for (const other of others) {
    const spelled = [
      other,
      encodeURIComponent(other),
      Buffer.from(other).toString('base64').slice(0, 12),
      Buffer.from(other).toString('hex'),
    ];
    at.push(...spelled.map((one) => text.indexOf(one)));
  }
  for (const place of at) if (place >= 0) found.push(around(place));
  return [...new Set(found)];
}
