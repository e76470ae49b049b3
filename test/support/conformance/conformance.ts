import { afterAll, afterEach, beforeAll, describe } from 'vitest';
import { ApiClient } from './api-client.ts';
import { describeCreation } from './creation.ts';
import { describeCustomResources } from './custom-resources.ts';
import { describeDefinitions } from './definitions.ts';
import { describeDeletion } from './deletion.ts';
import { describeDescriptions } from './descriptions.ts';
import { describeDiscovery } from './discovery.ts';
import { describeDryRuns } from './dry-runs.ts';
import { describeEscalation } from './escalation.ts';
import { describeExpiry } from './expiry.ts';
import { describeFinalizers } from './finalizers.ts';
import { describeForms } from './forms.ts';
import { describeImpersonation } from './impersonation.ts';
import { describeIssuerKeys } from './issuer-keys.ts';
import { describeJudgedNames } from './judged-names.ts';
import { describeLeases } from './leases.ts';
import { describeLists } from './lists.ts';
import { describeMetadata } from './metadata.ts';
import { describeNamespaces } from './namespaces.ts';
import { describePages } from './pages.ts';
import { describePatches } from './patches.ts';
import { describePods } from './pods.ts';
import { describeRefusals } from './refusals.ts';
import { describeResourceVersions } from './resource-versions.ts';
import { describeReviews } from './reviews.ts';
import { describeSecrets } from './secrets.ts';
import { describeSelectors } from './selectors.ts';
import { describeServer } from './server.ts';
import type { Suite } from './suite.ts';
import { describeTables } from './tables.ts';
import type { ConformanceTarget } from './target.ts';
import { describeTokenReviews } from './token-reviews.ts';
import { describeUpdates } from './updates.ts';
import { describeWatchLists } from './watch-lists.ts';
import { describeWatches } from './watches.ts';
import { describeWebsockets } from './websockets.ts';

/**
 * Tests, over HTTP alone, the part of the Kubernetes API that Gatehouse uses. The real kube-apiserver passes this suite, so the suite
 * describes the real behaviour, even where it differs from the documentation. The simulated API server must pass it, too.
 */
export function describeConformance(name: string, start: () => Promise<ConformanceTarget>): void {
  // Always in this order, because tests use the objects of the tests before them.
  describe(name, { shuffle: false }, () => {
    let target: ConformanceTarget;
    let api: ApiClient;
    beforeAll(async () => {
      target = await start();
      api = await ApiClient.to(target);
    });
    afterEach(() => api.endWatches());
    afterAll(async () => {
      await api?.close();
      await target?.stop();
    });
    const suite: Suite = {
      get api() {
        return api;
      },
      get target() {
        return target;
      },
    };
    describeServer(suite);
    describeDiscovery(suite);
    describeDescriptions(suite);
    describeForms(suite);
    describeTables(suite);
    describeLists(suite);
    describePages(suite);
    describeResourceVersions(suite);
    describeSelectors(suite);
    describeWatches(suite);
    describeWatchLists(suite);
    describeWebsockets(suite);
    describeCreation(suite);
    describeMetadata(suite);
    describeUpdates(suite);
    describePatches(suite);
    describeDeletion(suite);
    describeNamespaces(suite);
    describePods(suite);
    describeSecrets(suite);
    describeLeases(suite);
    describeCustomResources(suite);
    describeDefinitions(suite);
    describeFinalizers(suite);
    describeDryRuns(suite);
    describeReviews(suite);
    describeJudgedNames(suite);
    describeImpersonation(suite);
    describeEscalation(suite);
    describeTokenReviews(suite);
    describeIssuerKeys(suite);
    describeRefusals(suite);
    describeExpiry(suite); // last, because it compacts the history
  });
}
