/** The CRC-32 polynomial of RFC 1952 section 8, lowest power in the highest bit, as zlib has it. */
const POLYNOMIAL = 0xedb88320;

/** The product of two polynomials modulo the CRC-32 one. At most 32 steps. */
function multiply(a: number, b: number): number {
  let product = 0;
  let factor = b;
  for (let bit = 0x80000000; bit !== 0; bit >>>= 1) {
    if (a & bit) product ^= factor;
    factor = factor & 1 ? (factor >>> 1) ^ POLYNOMIAL : factor >>> 1;
  }
  return product >>> 0;
}

/** x^(2^n) for n = 0 to 31; x^1 is 0x40000000 in this bit order. */
const SQUARES: readonly number[] = (() => {
  const squares = [0x40000000];
  for (let n = 1; n < 32; n++) squares.push(multiply(squares[n - 1] ?? 0, squares[n - 1] ?? 0));
  return squares;
})();

/** x^(8 * length): what appending `length` bytes does to a CRC. Depends on the length only, so it is kept with the bytes. */
export function crcShift(length: number): number {
  let power = 0x80000000;
  // The powers of x repeat after 2^32 - 1, so the squares do so after 32 steps; 8 bits a byte start three squares on.
  for (let rest = length, n = 3; rest > 0; rest = Math.floor(rest / 2), n++) {
    if (rest % 2 === 1) power = multiply(SQUARES[n % 32] ?? 0, power);
  }
  return power;
}

/** The CRC-32 of two texts one after the other, from theirs: `shift` is `crcShift` of the second one's length. */
export const combineCrc32 = (first: number, second: number, shift: number): number =>
  (multiply(shift, first) ^ second) >>> 0;
