import { dnsLabel, section } from './fields.ts';

export const tenant = section({
  defaultWorkspace: dnsLabel
    .optional()
    .describe(
      'The name of a workspace in which all namespaces without a workspace are shown. It exists only in answers and gives no right; everybody sees it, with the namespaces that they may see. Default: none. Without workspaces in the cluster it is where people land in the console of KubeSphere.',
    ),
}).describe('Workspaces, which are groups of namespaces, as the console of KubeSphere knows them.');
