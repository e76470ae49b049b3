import type { Authorizer, Subject } from '../../../authorization/authorizer.ts';
import type { GatewayCall } from '../../../gateway/gateway.ts';
import { askedCollection } from '../../../gateway/permitted/asked-collection.ts';
import type { ListOut } from '../../../gateway/permitted/merged-list.ts';
import type { PermittedLists } from '../../../gateway/permitted/permitted-lists.ts';
import type { AnswerDeadline } from '../../chain/answer-deadline.ts';
import { toAttributes } from '../../chain/authorize.ts';
import { withSelectors } from '../../chain/still-authorized.ts';
import type { Exchange } from '../../exchange.ts';

interface ServePermittedParts {
  readonly lists: PermittedLists;
  readonly authorizer: Authorizer;
  readonly deadline: AnswerDeadline;
}

/**
 * Answers a call over the namespaces that its caller may see. Resolves to whether it has; if not, nothing was sent, and the call is to be
 * passed on. Returns `false` at once for a call that cannot have such an answer.
 */
export type ServePermitted = (
  exchange: Exchange,
  call: GatewayCall,
  to: { readonly out: ListOut; readonly signal: AbortSignal },
) => false | Promise<boolean>;

export function createServePermitted({ lists, authorizer, deadline }: ServePermittedParts): ServePermitted {
  const serve = async (
    exchange: Exchange,
    permitted: Parameters<PermittedLists['answerTo']>[0],
    { out, signal }: { readonly out: ListOut; readonly signal: AbortSignal },
  ): Promise<boolean> => {
    const answer = await lists.answerTo(permitted, signal);
    if (!answer) return false;
    exchange.permitted = answer;
    const isAnswered = await answer.send(out, signal);
    if (!isAnswered) exchange.permitted = undefined;
    return isAnswered;
  };
  return (exchange, call, to) => {
    const { identity, info } = exchange.signedIn;
    const { segments, query } = exchange.target;
    const asked = askedCollection(call.method, info, segments.length);
    if (!asked) return false;
    const attributes = { resource: withSelectors(toAttributes(info), info) };
    // If the review fails, the call is passed on, and the cluster itself judges it.
    const isAllowed = (subject: Subject): Promise<boolean> =>
      deadline.bound(Promise.resolve(authorizer.authorize(subject, attributes)), exchange).then(
        ({ allowed }) => allowed,
        () => true,
      );
    const subject = exchange.impersonation?.subject ?? identity;
    return serve(exchange, { asked, call, query, subject, isAllowed }, to);
  };
}
