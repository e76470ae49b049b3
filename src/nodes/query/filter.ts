import type { NodeShape } from '../entries/change.ts';
import type { NodeFilters } from './list-query.ts';

type Condition = (node: NodeShape) => boolean;

/** All conditions of a query as one. They read what the cluster stores, never what the answer adds. */
export function toNodeFilter(filters: NodeFilters, aliasKey: string): Condition {
  const conditions = toConditions(filters, aliasKey);
  return (node) => conditions.every((holds) => holds(node));
}

function toConditions(filters: NodeFilters, aliasKey: string): readonly Condition[] {
  const { labelSelector, label, annotation, name, names, alias, uid, namespace, ownerReference, ownerKind } = filters;
  const { status, fields } = filters;
  const conditions: Condition[] = [];
  if (labelSelector) conditions.push((node) => labelSelector.matches(node.labels));
  if (label) conditions.push((node) => label.matches(node.labels));
  if (annotation) conditions.push((node) => annotation.matches(node.annotations));
  if (name !== undefined) conditions.push((node) => node.key.includes(name));
  if (names) conditions.push(isAmong(new Set(names)));
  if (alias !== undefined) conditions.push(hasAlias(alias, aliasKey));
  if (uid !== undefined) conditions.push((node) => node.uid === uid);
  // Nodes have no namespace: only the empty one is theirs.
  if (namespace !== undefined) conditions.push(() => namespace === '');
  if (ownerReference !== undefined)
    conditions.push((node) => node.owners.some((owner) => owner.uid === ownerReference));
  if (ownerKind !== undefined) conditions.push((node) => node.owners.some((owner) => owner.kind === ownerKind));
  if (fields) conditions.push((node) => fields(node.key));
  if (status) conditions.push((node) => node.status === status);
  return conditions;
}

const isAmong =
  (names: ReadonlySet<string>): Condition =>
  (node) =>
    names.has(node.key);

/** An empty alias is in every alias, an absent one too, but in no node without any stored annotation: as 3.4. */
const hasAlias =
  (alias: string, key: string): Condition =>
  ({ annotations }) => {
    if (annotations === undefined || Object.keys(annotations).length === 0) return false;
    return (Object.hasOwn(annotations, key) ? (annotations[key] ?? '') : '').includes(alias);
  };
