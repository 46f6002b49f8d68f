/** The smaller of two where both are known, else the one that is. */
export function minimum(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined ? other : other === undefined ? one : Math.min(one, other);
}

/** The larger of two where both are known, else the one that is. */
export function maximum(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined ? other : other === undefined ? one : Math.max(one, other);
}
