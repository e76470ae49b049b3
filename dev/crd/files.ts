import { crdDescription } from './description.ts';
import { LOGIN_RECORDS, USERS } from './kinds.ts';
import { definitionTemplate } from './manifests.ts';

/** The files that `npm run crd:write` writes: the text of each, by its path. */
export const generatedFiles = (): ReadonlyMap<string, string> =>
  new Map([
    ['charts/gatehouse/templates/users-crd.yaml', definitionTemplate(USERS)],
    ['charts/gatehouse/templates/loginrecords-crd.yaml', definitionTemplate(LOGIN_RECORDS)],
    ['api/crd.openapi.yaml', crdDescription()],
  ]);
