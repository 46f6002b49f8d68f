import { formatInteger } from './text.ts';

/** Decimal units, as the control panel counts: `812 GB`, `1.24 GB`, `52.4 MB`. From 100,000 GB on in TB. */
export function formatBytes(amount: number): string {
  if (amount < 1000) return `${formatInteger(Math.round(amount))} B`;
  if (amount < 1e6) return `${digits(amount / 1e3)} kB`;
  if (amount < 1e9) return `${digits(amount / 1e6)} MB`;
  if (amount < 1e14) return `${digits(amount / 1e9)} GB`;
  return `${digits(amount / 1e12)} TB`;
}

// Made once: each takes as long as a hundred uses of it.
const dollars = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD' });
const plainNumber = new Intl.NumberFormat('en-US');

/** Charges as the CDN reports them, in dollars (the unit of its PriceOverride). */
export function formatMoney(amount: number): string {
  return dollars.format(amount);
}

/** `81 %`: whole per cent, never rounded up to the limit nor down to nothing. */
export function formatPercent(part: number, whole: number): string {
  const share = (part / whole) * 100;
  if (share > 0 && share < 1) return 'under 1 %';
  return `${formatInteger(share < 100 ? Math.floor(share) : Math.round(share))} %`;
}

/** Three digits that say something: `1.24`, `12.4`, `124`, `1,240`. */
function digits(amount: number): string {
  const decimals = amount >= 100 ? 0 : amount >= 10 ? 1 : 2;
  return plainNumber.format(Number(amount.toFixed(decimals)));
}
