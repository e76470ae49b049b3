import { EventSource } from 'eventsource';
import { follow } from './follow-events.ts';
import { takeSteps, told } from './steps.ts';

const url = `${told.nodes}?watch=true`;
const headers = { Authorization: `Bearer ${told.token}` };

await takeSteps({
  watch: () => {
    const source = new EventSource(url, {
      fetch: (to, init) => fetch(to, { ...init, headers: { ...init.headers, ...headers } }),
    });
    follow(source);
  },
});
