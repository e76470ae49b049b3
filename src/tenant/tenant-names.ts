/** The names of workspaces and of what belongs to them. They follow from the platform's name. */
export interface TenantNames {
  readonly platform: string;
  /** `tenant.<platform>.io` */
  readonly group: string;
  /** `iam.<platform>.io` */
  readonly iamGroup: string;
  /** Label of a namespace, of a binding and of a role: the workspace that it belongs to. */
  readonly workspaceLabel: string;
}

export const tenantNames = (platform: string): TenantNames => ({
  platform,
  group: `tenant.${platform}.io`,
  iamGroup: `iam.${platform}.io`,
  workspaceLabel: `${platform}.io/workspace`,
});
