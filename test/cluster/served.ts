import type { ControlPlane } from '../support/control-plane.ts';
import { eventually } from './eventually.ts';

/**
 * Resolves when the API server serves these custom resources and kubectl finds them, given as `users.iam.example.io`. A definition
 * that is Established is not enough: the part of the server that serves the resource, and discovery, learn of it a moment later and
 * answer 404 until then. Nor can `kubectl wait` be asked right after the creation, when the conditions are `null`, which it takes for
 * an error.
 */
export async function served(
  { kubectl }: Pick<ControlPlane, 'kubectl'>,
  ...resources: readonly string[]
): Promise<void> {
  for (const resource of resources)
    await eventually(
      () => kubectl(['get', resource, '--output=name']).then(() => 'served', String),
      (said) => said === 'served',
    );
}
