/** The longest texts of a User, in characters. */

/** What a label's value may have (RFC 1123): the label `user-ref` carries the name. */
export const LONGEST_NAME = 63;

/** Characters of each text that people write about a user. */
export const LONGEST_TEXT = 256;

/** Every access review of the user carries its groups: 8 Ki characters at most. */
export const MOST_GROUPS = 64;
export const LONGEST_GROUP = 128;
