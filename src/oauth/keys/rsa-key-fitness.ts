import type { KeyObject } from 'node:crypto';
import type { JWK } from 'jose';

/** RFC 7518 3.3 for the modulus; RFC 8725 3.5 for the rest. A verification costs the same up to some thousand bits. */
export const MODULUS_BITS = 2048;
const LONGEST_MODULUS_BITS = 8192;

/** NIST SP 800-56B 6.2; with the exponent 1 every text would be its own signature. */
const LEAST_EXPONENT = 65537n;

/**
 * Whether a key may verify RS256: it is strong enough, its library did not give its factors away, and its own
 * description, as far as it has one, allows this use (RFC 7517 4.2 to 4.4).
 */
export function isFitForRs256(jwk: JWK, key: KeyObject): boolean {
  const { modulusLength = 0, publicExponent = 0n } = key.asymmetricKeyDetails ?? {};
  const isStrong =
    modulusLength >= MODULUS_BITS && modulusLength <= LONGEST_MODULUS_BITS && publicExponent >= LEAST_EXPONENT;
  const { use = 'sig', alg = 'RS256', key_ops: operations = ['verify'] } = jwk;
  const isMeant = use === 'sig' && alg === 'RS256' && operations.some((name) => name === 'verify' || name === 'sign');
  return isStrong && isMeant && !hasRocaModulus(key);
}

/** For keys of 2048 to 3968 bits, the weak library worked modulo the product of the primes up to this one. */
const LAST_PRIME = 701;

/**
 * CVE-2017-15361: modulo each of those primes, both factors are powers of 65537, and so is their product. A random
 * number is practically never such a power modulo all of them. It fails at one of the first primes, so the rest is
 * rarely computed.
 */
function hasRocaModulus(key: KeyObject): boolean {
  const { n = '' } = key.export({ format: 'jwk' });
  const modulus = BigInt(`0x${Buffer.from(n, 'base64url').toString('hex')}`);
  for (let prime = 3; prime <= LAST_PRIME; prime += 2) {
    if (isPrime(prime) && !powersOf65537(prime).has(Number(modulus % BigInt(prime)))) return false;
  }
  return true;
}

function isPrime(odd: number): boolean {
  for (let divisor = 3; divisor * divisor <= odd; divisor += 2) if (odd % divisor === 0) return false;
  return true;
}

function powersOf65537(prime: number): ReadonlySet<number> {
  const powers = new Set<number>();
  for (let power = 1; !powers.has(power); power = (power * 65537) % prime) powers.add(power);
  return powers;
}
