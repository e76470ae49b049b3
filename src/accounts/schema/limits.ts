/** The longest texts of a User, in characters. */

/** The label `user-ref` carries the name, and its value may have 63 characters (RFC 1123). */
export const LONGEST_NAME = 63;

/** The most characters of a free text about a user, such as the description. */
export const LONGEST_TEXT = 256;

/** Every access review of the user carries its groups: 8 Ki characters at most. */
export const MOST_GROUPS = 64;
export const LONGEST_GROUP = 128;
