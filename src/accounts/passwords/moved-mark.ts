import { createHash } from 'node:crypto';

/** 66 bits distinguish the hashes that one user has had. Nobody can test a password against them: the salt is not known. */
const CHARACTERS = 11;

/** The value of the annotation that says which hash was moved out of a User object. */
export const movedMark = (hash: string): string =>
  createHash('sha256').update(hash).digest('base64url').slice(0, CHARACTERS);
