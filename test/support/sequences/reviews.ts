import { groupOf } from './kinds.ts';
import { NAMES, nameOf, type Setting } from './setting.ts';
import type { Json, Step } from './steps.ts';

const ACCESS = '/apis/authorization.k8s.io/v1';
const AUTHENTICATION = '/apis/authentication.k8s.io/v1';

/** One of the reviews that Gatehouse posts. */
export function reviewStep(setting: Setting): Step {
  const { oneOf } = setting.chance;
  return oneOf([accessReview, accessReview, ownAccessReview, tokenReview, whoAmI])(setting);
}

function attributesOf({ chance, id, namespace, kinds }: Setting): Json {
  const { oneOf, happens } = chance;
  if (happens(0.2)) return { nonResourceAttributes: { path: oneOf(['/version', '/metrics', '/api/v1']), verb: 'get' } };
  const kind = oneOf(kinds);
  const resourceAttributes = {
    verb: oneOf(['get', 'list', 'delete', 'impersonate']),
    group: groupOf(kind),
    resource: kind.plural,
    ...(happens(0.6) && { namespace }),
    ...(happens(0.4) && { name: nameOf(id, oneOf(NAMES)) }),
    ...(happens(0.2) && { subresource: 'status' }),
  };
  return { resourceAttributes };
}

const posted = (path: string, kind: string, spec: Json): Step => ({
  method: 'POST',
  path: `${path}/${kind.toLowerCase()}s`,
  body: { apiVersion: path.slice('/apis/'.length), kind, ...(spec && { spec }) },
});

function accessReview(setting: Setting): Step {
  const { chance, id } = setting;
  const { oneOf, happens } = chance;
  const who = oneOf<Json>([{ user: `${id}-caller` }, { user: 'nobody', groups: ['system:authenticated'] }, {}]);
  const spec = happens(0.1) ? who : { ...who, ...attributesOf(setting) };
  return posted(ACCESS, 'SubjectAccessReview', spec);
}

const ownAccessReview = (setting: Setting): Step => posted(ACCESS, 'SelfSubjectAccessReview', attributesOf(setting));

const tokenReview = ({ chance }: Setting): Step =>
  posted(AUTHENTICATION, 'TokenReview', {
    token: chance.oneOf(['', 'unknown', 'a.b.c']),
    ...(chance.happens(0.3) && { audiences: ['gatehouse'] }),
  });

function whoAmI({ chance, caller }: Setting): Step {
  const more = chance.oneOf<Record<string, string>>([
    {},
    { 'impersonate-group': 'developers' },
    { 'impersonate-uid': 'u-1' },
    { 'impersonate-extra-scopes': 'a' },
  ]);
  const isSomebody = Object.keys(more).length === 0 || chance.happens(0.8);
  const headers = { ...(isSomebody && { 'impersonate-user': caller?.name ?? 'somebody' }), ...more };
  return { ...posted(AUTHENTICATION, 'SelfSubjectReview', undefined), headers };
}
