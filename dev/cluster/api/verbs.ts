import type { ResourceKind } from '../kinds.ts';
import { REVIEWS } from './built-in-kinds.ts';

/** Without `deletecollection`, which is not served here. */
const STORED_VERBS = ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'];

/** The verbs that discovery names for a kind. */
export const verbsOf = (kind: ResourceKind): readonly string[] => (REVIEWS.includes(kind) ? ['create'] : STORED_VERBS);
