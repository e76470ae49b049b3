import { signInOnPage } from './person-at-browser.ts';

/** A browser in a process of its own: the person USERNAME signs in with PASSWORD at the address that is its only argument. */
const { USERNAME: username = '', PASSWORD: password = '' } = process.env;
await signInOnPage(process.argv[2] ?? '', { username, password });
