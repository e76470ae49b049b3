import { EventSource } from 'eventsource';
import reconnecting from 'reconnecting-eventsource';
import { follow } from './follow-events.ts';
import { takeSteps, told } from './steps.ts';

// The package's types are those of its CommonJS module, and know the browser's EventSource only.
const ReconnectingEventSource = reconnecting as unknown as new (
  url: string,
  options: { readonly eventSourceClass: typeof WithBearer },
) => EventSource;

const url = `${told.nodes}?watch=true`;
const headers = { Authorization: `Bearer ${told.token}` };

class WithBearer extends EventSource {
  constructor(url: string | URL) {
    super(url, { fetch: (to, init) => fetch(to, { ...init, headers: { ...init.headers, ...headers } }) });
  }
}

await takeSteps({
  watch: () => {
    const source = new ReconnectingEventSource(url, { eventSourceClass: WithBearer });
    follow(source);
  },
});
