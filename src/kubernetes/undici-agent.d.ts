/** undici's Agent alone: half the start-up time and memory of the package's front door, which also loads fetch and more. */
declare module 'undici/lib/dispatcher/agent.js' {
  import type { Agent } from 'undici';

  const AgentClass: typeof Agent;
  export = AgentClass;
}
