import { derived } from '../../runtime/derived.ts';
import type { Exchange, Step } from '../exchange.ts';
import type { RequestInfo } from '../request-info.ts';

/** What a request is really about: by this the caller is authorized, and this is in refusals and in the log. */
type Asked = Pick<RequestInfo, 'verb' | 'group' | 'version' | 'resource'> & Partial<Pick<RequestInfo, 'namespace'>>;

/** Reads a request as one for another resource. */
export const asking = (info: RequestInfo, asked: Asked): RequestInfo => ({
  ...info,
  namespace: '',
  name: '',
  subresource: '',
  ...asked,
});

/** A step before authorization that makes every request of a route one for this resource. */
export function asksFor(asked: Asked): Step {
  const rewritten = derived((info: RequestInfo) => asking(info, asked));
  return (exchange: Exchange) => {
    exchange.asks(rewritten(exchange.signedIn.info));
    return 'next';
  };
}
