import type { Client } from './client-program.ts';
import { holdClients } from './clients-suite.ts';
import { classPath, javaOf, RUNTIMES } from './java/toolchain.ts';

const LIBRARIES = {
  java: 'HttpURLConnection',
  apache: 'Apache HttpClient 5',
  nimbus: 'Nimbus',
} as const;

/** A second program starts in half the time, and nothing here is worth compiling twice. */
const QUICK = ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC', '-Xmx128m'];

const spring6 = await classPath('spring-6');
const spring7 = await classPath('spring-7');

const client = (java: string, version: string, library: keyof typeof LIBRARIES): Client => ({
  name: `${LIBRARIES[library]} (Java ${version})`,
  command: [java, ...QUICK, '-cp', spring6, 'Main', library],
  steps: ['sign-in', 'verify', 'list', 'watch', 'refresh'],
});

const all = (java: string, version: string): Client[] =>
  (Object.keys(LIBRARIES) as (keyof typeof LIBRARIES)[]).map((library) => client(java, version, library));

const spring = (generation: string, path: string): Client => ({
  name: `Spring Security ${generation} (Java 17)`,
  command: ['java', ...QUICK, '-cp', path, 'Main', 'spring'],
  steps: ['sign-in', 'verify', 'list', 'watch', 'refresh'],
});

const kubernetes: Client = {
  name: 'Kubernetes client-java, through the gateway (Java 17)',
  command: ['java', ...QUICK, '-cp', spring7, 'Main', 'kubernetes'],
  steps: ['list', 'watch'],
};

const CLIENTS: Client[] = [];
for (const runtime of RUNTIMES) CLIENTS.push(...all(await javaOf(runtime), runtime));
CLIENTS.push(...all('java', '17'), spring('6', spring6), spring('7', spring7), kubernetes);

holdClients(CLIENTS);
