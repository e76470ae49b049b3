import type { AllObjects } from '../../resources/entries/all-objects.ts';
import { asObject } from '../../runtime/text/json-value.ts';
import { type ImpersonationForm, type ImpersonationRole, type Named, namesIn } from './impersonation-role.ts';

export interface MirroredImpersonationParts {
  /** All ClusterRoles in memory. */
  readonly clusterRoles: Pick<AllObjects, 'get' | 'onChange'>;
  /** The names of the roles that the installation made for us. */
  readonly names: readonly string[];
  readonly form: ImpersonationForm;
}

/** The ClusterRoles that name whom we may impersonate, as the cluster has them according to its watch. */
export class MirroredImpersonation {
  readonly #parts: MirroredImpersonationParts;
  #roles: readonly ImpersonationRole[] | undefined;
  #present: Readonly<Record<Named, ReadonlySet<string>>> | undefined;

  constructor(parts: MirroredImpersonationParts) {
    this.#parts = parts;
    const ours = new Set(parts.names);
    parts.clusterRoles.onChange((name) => {
      if (!ours.has(name)) return;
      this.#roles = undefined;
      this.#present = undefined;
    });
  }

  /** The roles that exist, in the configured order. */
  roles(): readonly ImpersonationRole[] {
    this.#roles ??= this.#parts.names.flatMap((name) => this.#read(name));
    return this.#roles;
  }

  /** The names of the roles that do not exist. */
  missing(): readonly string[] {
    return this.#parts.names.filter((name) => !this.#parts.clusterRoles.get(name));
  }

  /** Whether some role has the name. */
  has(named: Named, name: string): boolean {
    const all = this.roles();
    this.#present ??= {
      users: new Set(all.flatMap(({ users }) => users)),
      groups: new Set(all.flatMap(({ groups }) => groups)),
    };
    return this.#present[named].has(name);
  }

  #read(name: string): ImpersonationRole[] {
    const entry = this.#parts.clusterRoles.get(name);
    if (!entry) return [];
    const { rules } = asObject(JSON.parse(Buffer.from(entry.encoded.bytes()).toString()));
    return [{ name, resourceVersion: entry.resourceVersion, ...namesIn(rules, this.#parts.form) }];
  }
}
