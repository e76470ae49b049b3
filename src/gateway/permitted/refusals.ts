import { StatusError } from '../../status-error.ts';

/** A 410 makes client-go and kubectl list again, over the present scope. */
export const expired = (): StatusError => new StatusError('Expired', { message: RIGHTS_CHANGED });

/** In the words of etcd and kube-apiserver, whose beginning clients look for. */
const RIGHTS_CHANGED =
  'too old resource version: your rights have changed, or this server does not know whether they have; list again';

/** The client accepts no JSON, and other encodings cannot be filtered. */
export const onlyJson = (): StatusError =>
  new StatusError('NotAcceptable', {
    message: 'a list over the namespaces that you may see is made as JSON only: accept application/json',
  });

/** The event that ends a watch when the scope has changed. */
export function expiredEvent(): Buffer {
  const { code, reason, message } = expired().answer;
  const object = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, reason, code };
  return Buffer.from(`${JSON.stringify({ type: 'ERROR', object })}\n`);
}
