/** FNV-1a, 32 bit: offset basis and prime. */
const BASIS = 0x811c9dc5;
const PRIME = 0x01000193;

/** FNV-1a of the UTF-16 units of a text, as a signed 32-bit integer. `seed` is the hash of the text before it. */
export function textHash(text: string, seed = BASIS): number {
  let value = seed | 0;
  for (let index = 0; index < text.length; index++) value = Math.imul(value ^ text.charCodeAt(index), PRIME);
  return value;
}
