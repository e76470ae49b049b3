import assert from 'node:assert/strict';
import { wholeBody } from '../../../src/http/answer/answer.ts';
import type { Handler } from '../../../src/http/exchange.ts';
import type { RouteFamily } from '../../../src/http/family.ts';
import { startApp } from '../../integration/http/app-under-test.ts';

const greetings: RouteFamily = ({ writer }) => {
  const GET: Handler = (exchange) => {
    const text = `hello ${exchange.parameters[0]}`;
    writer.send(exchange, 200, { 'Content-Type': 'text/plain' }, wholeBody(Buffer.from(text)));
  };
  const template = '/hello/{name}';
  return { routes: [{ template, access: 'public', admission: 'other', produces: 'any', methods: { GET } }] };
};

const app = await startApp({ families: [greetings] }); // test/integration/http/app-under-test.ts
const answer = await app.get('/hello/ada').then((response) => response.text());
await app.stop();
assert.equal(answer, 'hello ada');
