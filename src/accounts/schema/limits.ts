/** How long the texts of a User are at most, in characters. */

/** What a label's value may have (RFC 1123): the label `user-ref` carries the name. */
export const LONGEST_NAME = 63;

/** Characters of each text that people write about a user. */
export const LONGEST_TEXT = 256;

/** They stand in every access review of the user: 8 Ki characters at most. */
export const MOST_GROUPS = 64;
export const LONGEST_GROUP = 128;
