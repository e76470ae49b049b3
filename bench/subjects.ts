import { measureAccounts, printAccounts } from './accounts.ts';
import type { Bench } from './bench.ts';
import { measureBrowser, printBrowser } from './browser.ts';
import { measureChurn, printChurn } from './churn.ts';
import { measureCurve, printCurve } from './curve.ts';
import { measureFlood, printFlood } from './flood.ts';
import { measureGateway, printGateway } from './gateway.ts';
import { measureGrowth, printGrowth } from './growth.ts';
import { measureIdle, printIdle } from './idle.ts';
import { measureKinds } from './kinds/kinds.ts';
import { printKinds } from './kinds/print.ts';
import { measureLists, printLists } from './lists.ts';
import { measureLogin, printLogin } from './login.ts';
import { measureLogs, printLogs } from './logs.ts';
import { measureNamespaces, printNamespaces } from './namespaces.ts';
import { measurePage } from './page/page.ts';
import { printPage } from './page/print.ts';
import { measurePages, printPages } from './pages.ts';
import { measureReviews, printReviews } from './reviews.ts';
import { measureSearches, printSearches } from './searches/searches.ts';
import { measureSignIn, printSignIn } from './sign-in.ts';
import { measureSize, printSize } from './size.ts';
import { measureSoak, printSoak } from './soak.ts';
import { measureStorm, printStorm } from './storm.ts';
import { measureTenant, printTenant } from './tenant.ts';
import { measureTurns, printTurns } from './turns.ts';
import { measureVisits, printVisits } from './visits.ts';
import { measureWatch, printWatch } from './watch.ts';

/** One thing that the bench can measure. */
export interface Subject {
  /** A line for the help. */
  readonly about: string;
  /** Whether it is measured only on request, because it takes long. */
  readonly onDemand: boolean;
  /** Measures it. Resolves to the results as plain data, and to their tables as text. */
  run(bench: Bench): Promise<{ readonly results: unknown; readonly text: string }>;
}

/** Every subject by its name, in the order in which they are measured. */
export const SUBJECTS: Readonly<Record<string, Subject>> = {
  lists: subject(
    'lists beside a bare node:http server, nginx and kube-apiserver; start; sight of a change',
    measureLists,
    printLists,
  ),
  pages: subject('a page and a selector out of 5,000 nodes', measurePages, printPages),
  namespaces: subject(
    'a list of 5,000 namespaces beside one of nodes that has as many bytes',
    measureNamespaces,
    printNamespaces,
  ),
  kinds: onDemand(
    'every kind: pages and lists of 20,000 pods beside kube-apiserver; permitted pages; memory; 40 kinds; search (KINDS_PODS and others)',
    measureKinds,
    printKinds,
  ),
  size: subject('memory with 5,000 nodes and 150,000 pods; start up to 15,000 nodes', measureSize, printSize),
  idle: subject('what an idle process, a reflector and 1,000 idle connections cost', measureIdle, printIdle),
  churn: subject('lists of 1,000 nodes while they change', measureChurn, printChurn),
  storm: subject('5,000 pod events a second on 15,000 nodes', measureStorm, printStorm),
  curve: onDemand('lists by number of nodes, 10 to 15,000', measureCurve, printCurve),
  soak: onDemand('ten probes a second through a fault a minute and an outage', measureSoak, printSoak),
  'sign-in': subject('what a flood of sign-ins leaves; whether time tells a name; rates', measureSignIn, printSignIn),
  browser: onDemand(
    'the sign-in page beside oidc-provider; sign-ins by browser beside the password grant; the list beside them',
    measureBrowser,
    printBrowser,
  ),
  reviews: onDemand('others beside one who floods access reviews; a frozen API server', measureReviews, printReviews),
  watch: onDemand('watchers that wait, and the time until all have a change', measureWatch, printWatch),
  accounts: onDemand(
    '10,000 users as objects: pages, memory, start and sign-ins beside a Gatehouse without',
    measureAccounts,
    printAccounts,
  ),
  gateway: onDemand(
    'calls to the cluster beside kube-apiserver and three proxies, at their limit and at the same rate; watches; the node list beside them',
    measureGateway,
    printGateway,
  ),
  login: onDemand(
    'kubectl directly, with a static token and with the plug-in; the plug-in alone',
    measureLogin,
    printLogin,
  ),
  growth: onDemand(
    'what 1 to 16 replicas cost the API server, with the same people: watches, reviews, writes, memory',
    measureGrowth,
    printGrowth,
  ),
  flood: onDemand(
    'calls and lists of a user beside one and four users who get 403 for everything',
    measureFlood,
    printFlood,
  ),
  searches: onDemand(
    'searches of logs, events and audit records beside the store; what many of them leave in memory',
    measureSearches,
    printSearches,
  ),
  logs: onDemand(
    'an export of a million log messages beside the store; the node list beside a store that hangs',
    measureLogs,
    printLogs,
  ),
  page: onDemand(
    'the page in a slow browser with 15,000 nodes and 30,000 pods; 200 open pages (PAGE_NODES and others)',
    measurePage,
    printPage,
  ),
  tenant: onDemand(
    'the lists of workspaces and of their namespaces, as an ordinary person of 5,000 bindings',
    measureTenant,
    printTenant,
  ),
  visits: onDemand(
    'what anonymous visits of the sign-in page leave behind; the list beside them',
    measureVisits,
    printVisits,
  ),
  turns: onDemand('the longest turns of the event loop of a large cluster', measureTurns, printTurns),
};

function subject<Results>(
  about: string,
  measure: (bench: Bench) => Promise<Results>,
  print: (results: Results) => string,
): Subject {
  const run = async (bench: Bench) => {
    const results = await measure(bench);
    return { results, text: print(results) };
  };
  return { about, onDemand: false, run };
}

function onDemand<Results>(...parts: Parameters<typeof subject<Results>>): Subject {
  return { ...subject(...parts), onDemand: true };
}
