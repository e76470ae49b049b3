/** The rules for a new password that people break (docs/contract/accounts.md, section 5). The server judges. */
export const PASSWORD_RULES = ['short', 'long', 'lowerCase', 'upperCase', 'digit'] as const;
export type PasswordRule = (typeof PASSWORD_RULES)[number];

const SHORTEST = 8;
const LONGEST_BYTES = 72;

/** The rules that a password breaks. Counted as the server does it: in the composed form. */
export function brokenRules(typed: string): readonly PasswordRule[] {
  const password = typed.normalize('NFC');
  const broken: Readonly<Record<PasswordRule, boolean>> = {
    short: [...password].length < SHORTEST,
    long: new TextEncoder().encode(password).length > LONGEST_BYTES,
    lowerCase: !/[a-z]/.test(password),
    upperCase: !/[A-Z]/.test(password),
    digit: !/[0-9]/.test(password),
  };
  return PASSWORD_RULES.filter((rule) => broken[rule]);
}
