/** Some ten tags of BCP 47. */
const LONGEST_LOCALES = 128;

/** The languages in `ui_locales` (OpenID Connect Core 3.1.2.1), the preferred ones first. What is too long is cut off. */
export const readLocales = (text = ''): readonly string[] =>
  text
    .slice(0, LONGEST_LOCALES)
    .split(' ')
    .filter((tag) => tag !== '');
