import type { NodeListQuery } from '../query/list-query.ts';

/** Page p of limit n is the half-open slice [(p-1)n, pn), clipped to what is there; a limit of -1 is everything. */
export function toSlice({ limit, page }: NodeListQuery, total: number): { readonly from: number; readonly to: number } {
  if (limit === -1n) return { from: 0, to: total };
  if (limit <= 0n || page <= 0n) return { from: 0, to: 0 };
  // Exact integers: a product of two 64-bit numbers would lose digits as a double and wrap around in 64 bits.
  const from = (page - 1n) * limit;
  const count = BigInt(total);
  if (from >= count) return { from: 0, to: 0 };
  const to = from + limit;
  return { from: Number(from), to: to < count ? Number(to) : total };
}
