import { EventSourcePolyfill } from 'event-source-polyfill';
import { follow } from './follow-events.ts';
import { takeSteps, told } from './steps.ts';

const url = `${told.nodes}?watch=true`;
const headers = { Authorization: `Bearer ${told.token}` };

await takeSteps({
  watch: () => {
    const source = new EventSourcePolyfill(url, { headers, heartbeatTimeout: 120_000 });
    follow(source);
  },
});
