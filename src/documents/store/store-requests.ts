import type { StoreClient, StoreRequest } from '../../stores/store-client.ts';

/** What a request to the log store is for; by these words requests are counted. */
export const STORE_PURPOSES = ['detect', 'indices', 'search', 'scroll', 'close'] as const;

export type StorePurpose = (typeof STORE_PURPOSES)[number];

export type LogStoreRequest = StoreRequest<StorePurpose>;

export type LogStoreClient = StoreClient<StorePurpose>;
