import { number } from './number.ts';

/** `1 pod`, `2 pods`. */
export const counted = (count: number, one: string, many: string): string =>
  `${number(count)} ${count === 1 ? one : many}`;

/** The singular of the plural of a kind: `ingress`, `networkpolicy`, `pod`. */
export const oneOf = (nouns: string): string => nouns.replace(/ies$/, 'y').replace(/(?<=ss)es$|(?<!s)s$/, '');
