/**
 * undici's Agent alone. Importing it takes half the start-up time and memory of the package's main entry, which also loads
 * fetch and more.
 */
declare module 'undici/lib/dispatcher/agent.js' {
  import type { Agent } from 'undici';

  const AgentClass: typeof Agent;
  export = AgentClass;
}

/** The connector that the Agent uses by default. */
declare module 'undici/lib/core/connect.js' {
  import type { buildConnector } from 'undici';

  const build: typeof buildConnector;
  export = build;
}
