import { type Answer, json } from './answer.ts';
import { isRecord } from './kube-object.ts';
import type { ObjectStore } from './object-store.ts';
import { type ApiRequest, type ResourceTarget, targetKey } from './request.ts';
import { parseJson } from './request-body.ts';
import { invalid, methodNotAllowed, notFound } from './status.ts';
import { timestamp } from './timestamp.ts';
import { ISSUER, type TokenSigner } from './token-signer.ts';

const API = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest' };
const HOUR = 3_600;
const LEAST_SECONDS = 600;

/** POST on the subresource `token` of a service account. */
export function requestToken(
  request: ApiRequest,
  target: ResourceTarget,
  { store, signer }: { readonly store: ObjectStore; readonly signer: TokenSigner },
): Answer {
  if (request.verb !== 'create') throw methodNotAllowed();
  const account = store.get('serviceaccounts', targetKey(target));
  if (!account) throw notFound(target.kind, target.name);
  const { spec: given } = parseJson(request.body);
  const spec = isRecord(given) ? given : {};
  const { audiences, expirationSeconds: lifeSeconds = HOUR } = spec as {
    audiences?: readonly string[];
    expirationSeconds?: number;
  };
  if (lifeSeconds < LEAST_SECONDS) throw tooShort(lifeSeconds);
  const aud = audiences?.length ? audiences : [ISSUER];
  const { uid, name } = account.metadata;
  const { token, exp } = signer.issue({ namespace: target.namespace, name, uid }, { aud, lifeSeconds });
  return json(
    {
      ...API,
      metadata: { name, namespace: target.namespace, uid },
      spec: { audiences: aud, expirationSeconds: lifeSeconds, boundObjectRef: null },
      status: { token, expirationTimestamp: timestamp(exp * 1000) },
    },
    201,
  );
}

function tooShort(seconds: number) {
  const message = `Invalid value: ${seconds}: may not specify a duration less than 10 minutes`;
  return invalid({ group: 'authentication.k8s.io', kind: API.kind, name: '' }, [
    { field: 'spec.expirationSeconds', reason: 'FieldValueInvalid', message },
  ]);
}
