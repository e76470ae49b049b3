import { computed } from '@preact/signals';
import type { ComponentType } from 'preact';
import type { t } from '../texts/text.ts';
import { NamespaceView } from '../views/namespace-view.tsx';
import { Namespaces } from '../views/namespaces.tsx';
import { Node } from '../views/node.tsx';
import { Nodes } from '../views/nodes.tsx';
import { ObjectView } from '../views/object-view.tsx';
import { Overview } from '../views/overview/overview.tsx';
import { ResourceList } from '../views/resource-list.tsx';
import { Resources } from '../views/resources.tsx';
import { address } from './address.ts';
import { lazy } from './lazy.tsx';
import { settings } from './settings.ts';

export interface ViewProps {
  /** The parts of the path behind the one that chose the view. */
  readonly parts: readonly string[];
}

type View = ComponentType<ViewProps>;

const Users = lazy<ViewProps>(async () => (await import('../views/users/users.tsx')).Users);
const User = lazy<ViewProps>(async () => (await import('../views/users/user.tsx')).User);
const Account = lazy<ViewProps>(async () => (await import('../views/account/account.tsx')).Account);
const Logs = lazy<ViewProps>(async () => (await import('../views/logs.tsx')).Logs);
const Events = lazy<ViewProps>(async () => (await import('../views/events.tsx')).Events);
const Audit = lazy<ViewProps>(async () => (await import('../views/audit.tsx')).Audit);
const LiveLogs = lazy<ViewProps>(async () => (await import('../views/live-logs.tsx')).LiveLogs);
const Explorer = lazy<ViewProps>(async () => (await import('../views/api/explorer.tsx')).Explorer);

interface Entry {
  readonly id: keyof ReturnType<typeof t>['views'];
  /** The first part of the path; empty for the overview. */
  readonly path: string;
  isOffered?(): boolean;
  /** Whether it is reached from other views only. `id` is then that of the entry that it belongs to. */
  readonly isBelow?: boolean;
  /** The view for these further parts; `undefined` if there is none. */
  of(parts: readonly string[]): View | undefined;
}

const only =
  (view: View) =>
  (parts: readonly string[]): View | undefined =>
    parts.length === 0 ? view : undefined;

/** The views of the page, in the order of the navigation. */
const VIEWS: readonly Entry[] = [
  { id: 'overview', path: '', of: only(Overview) },
  { id: 'nodes', path: 'nodes', of: ({ length }) => [Nodes, Node][length] },
  { id: 'namespaces', path: 'namespaces', of: ({ length }) => [Namespaces, NamespaceView][length] },
  {
    id: 'resources',
    path: 'resources',
    isOffered: () => settings().features.kinds,
    of: ({ length }) => [Resources, ResourceList, ObjectView, ObjectView][length],
  },
  { id: 'logs', path: 'logs', isOffered: () => settings().features.logs, of: only(Logs) },
  { id: 'events', path: 'events', isOffered: () => settings().features.events, of: only(Events) },
  { id: 'audit', path: 'audit', isOffered: () => settings().features.audit, of: only(Audit) },
  { id: 'account', path: 'account', of: only(Account) },
  {
    id: 'users',
    path: 'users',
    isOffered: () => settings().features.accounts,
    of: ({ length }) => [Users, User][length],
  },
  { id: 'api', path: 'api', of: ({ length }) => [Explorer, Explorer][length] },
  {
    id: 'resources',
    path: 'live-logs',
    isBelow: true,
    isOffered: () => settings().features.gateway,
    of: ({ length }) => (length === 3 ? LiveLogs : undefined),
  },
];

const offeredViews = (): readonly Entry[] => VIEWS.filter(({ isOffered }) => isOffered?.() ?? true);

/** The entries of the navigation that this server offers. */
export const navigation = (): readonly Entry[] => offeredViews().filter(({ isBelow }) => !isBelow);

/** Whether the address is one of a view that another server may offer, and this one does not. */
export const isNotOffered = (): boolean => {
  const [first = ''] = address.value.parts;
  return VIEWS.some(({ path }) => path === first) && !offeredViews().some(({ path }) => path === first);
};

/** The view at the address, with its entry; without a view the address means nothing. */
export const currentView = computed(() => {
  const [first = '', ...parts] = address.value.parts;
  const entry = offeredViews().find(({ path }) => path === first);
  return { entry, view: entry?.of(parts), parts };
});
