/** RFC 4291 2.5.5.2, with the last 32 bits in either notation. */
const MAPPED = /^(?:::|(?:0{1,4}:){5})ffff:(?:(\d+\.\d+\.\d+\.\d+)|([\da-f]{1,4}):([\da-f]{1,4}))$/i;

/** `::ffff:192.0.2.1` is how a dual-stack socket names an IPv4 peer; a proxy may write `::ffff:c000:201`. */
export const unmapped = (address: string): string => {
  const [, dotted, high, low] = MAPPED.exec(address) ?? [];
  if (dotted !== undefined || high === undefined || low === undefined) return dotted ?? address;
  const bits = [high, low].map((group) => Number.parseInt(group, 16));
  return bits.flatMap((group) => [group >> 8, group & 255]).join('.');
};

/** IPv4 as it is; IPv6 as its /64, since one caller commonly holds all of it. */
export function normaliseAddress(address: string): string {
  if (!address.includes(':')) return address;
  const plain = unmapped(address);
  if (!plain.includes(':')) return plain;
  const [head = '', tail = ''] = (plain.split('%')[0] as string).split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === '' ? [] : tail.split(':');
  const middle = Math.max(0, 8 - left.length - right.length);
  const groups = [...left, ...Array<string>(middle).fill('0'), ...right].slice(0, 4);
  return `${groups.map((group) => Number.parseInt(group, 16).toString(16)).join(':')}::/64`;
}
