import type { RouteFamily } from '../family.ts';
import { Health, type HealthChecks } from '../health.ts';
import { registerReadiness } from '../metrics.ts';
import { type Descriptions, descriptionRoutes, type VersionParts, versionRoutes } from './discovery.ts';
import { healthRoutes } from './health.ts';

export interface AboutParts extends VersionParts {
  /** The checks of all families. */
  readonly checks: HealthChecks;
  readonly descriptions: Descriptions;
}

/** The routes about the server itself: health, version and the descriptions of its API. */
export const aboutFamily =
  (parts: AboutParts): RouteFamily =>
  ({ platform, clock, logger, registry, writer }) => {
    const health = new Health(parts.checks, { clock, logger });
    registerReadiness(registry, health);
    const { descriptions, release } = parts;
    return {
      routes: [
        ...healthRoutes(health, writer),
        ...versionRoutes(parts, writer),
        ...descriptionRoutes({ platform, version: release.version, descriptions }, writer),
      ],
    };
  };
