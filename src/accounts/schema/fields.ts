import { z } from 'zod';

/** A rule in CEL that the cluster checks (`x-kubernetes-validations` of a CustomResourceDefinition). */
interface ClusterRule {
  readonly rule: string;
  /** In plain words: `kubectl` shows it to people. */
  readonly message: string;
  /** The field that the rule is about, if it is not the field that has the rule. */
  readonly fieldPath?: string;
  /** The rule sees the stored object as `oldSelf`, which has no value at a create. */
  readonly optionalOldSelf?: boolean;
}

/** The rules of a field that JSON Schema cannot express. */
export const clusterRules = (...rules: readonly ClusterRule[]) => ({ 'x-kubernetes-validations': rules });

/** Category Cc of Unicode: U+0000 to U+001F and U+007F to U+009F. JavaScript and the RE2 of API servers read this pattern alike. */
const WITHOUT_CONTROL_CHARACTERS = /^\P{Cc}*$/u;
const NO_CONTROL_CHARACTERS = 'must have no control characters';
const HAS_NO_CONTROL_CHARACTERS = {
  rule: `self.matches('${WITHOUT_CONTROL_CHARACTERS.source.replaceAll('\\', '\\\\')}')`,
  message: NO_CONTROL_CHARACTERS,
};

/**
 * Text of at most `longest` characters, counted as the cluster does: by code point. Control characters are forbidden twice,
 * by a pattern and by a CEL rule. A cluster always checks the pattern, but skips every CEL rule of an object in which any
 * field has the wrong type or length.
 */
export const freeText = (longest: number, description: string, rules: readonly ClusterRule[] = []) =>
  z
    .string()
    .regex(WITHOUT_CONTROL_CHARACTERS, NO_CONTROL_CHARACTERS)
    .refine((text) => [...text].length <= longest, `must have at most ${longest} characters`)
    .meta({ description, maxLength: longest, ...clusterRules(HAS_NO_CONTROL_CHARACTERS, ...rules) });

/** A time in RFC 3339. Any offset is allowed, as in the cluster's format `date-time`. */
export const instant = (description: string) =>
  z
    .string()
    .refine((text) => z.iso.datetime({ offset: true }).safeParse(text).success, 'must be a date and time (RFC 3339)')
    .meta({ description, format: 'date-time' });
