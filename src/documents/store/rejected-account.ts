import { publicText } from '../../stores/public-text.ts';
import { StoreError } from '../../stores/store-error.ts';

/** The store does not accept our user name or password. The text is for our log; a caller only learns that the store is unavailable. */
export const refusesUser = (): StoreError =>
  new StoreError('away', 'the log store refuses our user name or password: 401');

/** The store does not let our user do this. `text` is the store's reason. */
export const forbids = (text: string): StoreError =>
  new StoreError('away', `the log store does not let our user do this: 403 ${publicText(text)}`);
