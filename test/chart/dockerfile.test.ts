import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '..', '..');
const read = (name: string): string => readFileSync(join(ROOT, name), 'utf8');

interface Instruction {
  readonly name: string;
  readonly text: string;
}

/** The instructions of each stage; continued lines are joined, comments left out. */
function stagesOf(dockerfile: string): Instruction[][] {
  const lines = dockerfile
    .replaceAll(/\\\n/g, ' ')
    .split('\n')
    .filter((line) => line.trim() && !line.startsWith('#'));
  const stages: Instruction[][] = [];
  for (const line of lines) {
    const [, name = '', text = ''] = /^(\S+)\s+(.*)$/.exec(line) ?? [];
    if (name === 'FROM') stages.push([]);
    stages.at(-1)?.push({ name, text: text.trim() });
  }
  return stages;
}

const [build = [], final = [], ...more] = stagesOf(read('Dockerfile'));
const texts = (stage: Instruction[], name: string): string[] =>
  stage.filter((instruction) => instruction.name === name).map(({ text }) => text);

describe('the image', () => {
  test('is made in two stages', () => {
    expect([build.length > 0, final.length > 0, more]).toEqual([true, true, []]);
  });

  test('is built by the Node that the project pins, on the processor of the builder', () => {
    const { version } = JSON.parse(read('dev/node/package.json')) as { version: string };
    expect(texts(build, 'FROM')).toEqual([`--platform=$BUILDPLATFORM node:${version}-trixie-slim AS build`]);
  });

  test('runs on a distroless base of the same Node release and Debian, pinned by tag or digest', () => {
    const { version } = JSON.parse(read('dev/node/package.json')) as { version: string };
    const [major] = version.split('.');
    expect(texts(final, 'FROM')).toEqual([
      expect.stringMatching(new RegExp(`^gcr\\.io/distroless/nodejs${major}-debian13:nonroot(@sha256:[0-9a-f]{64})?$`)),
    ]);
  });

  test('installs from the lockfile only, and runs no install script', () => {
    const installs = texts(build, 'RUN')
      .join(' && ')
      .match(/npm (ci|install|i|add)\b[^&]*/g);
    expect(installs?.map((command) => command.trim())).toEqual(['npm ci --ignore-scripts']);
  });

  test('holds the build, api, and single files, and nothing else', () => {
    expect(texts(final, 'COPY')).toEqual([
      '--from=build /build/dist dist',
      'api api',
      '--from=build /build/build.json ./',
      'package.json LICENSE ./',
    ]);
  });

  test('runs nothing in its second stage, which may be for another processor', () => {
    expect([...texts(final, 'ADD'), ...texts(final, 'RUN')]).toEqual([]);
  });

  test('is told by the builder which processor it is for', () => {
    expect(texts(build, 'RUN').join(' && ')).toContain('npm run build -- --arch "$TARGETARCH"');
  });

  test('runs as a numeric user that is not root', () => {
    expect(texts(final, 'USER')).toEqual(['65532:65532']);
  });

  test('starts the program without a shell, and reads its source maps', () => {
    expect(JSON.parse(texts(final, 'ENTRYPOINT')[0] ?? '')).toEqual([
      '/nodejs/bin/node',
      '--enable-source-maps',
      '/app/dist/main.js',
    ]);
  });

  test('carries no secret in arguments or environment', () => {
    const named = [...build, ...final].filter(({ name }) => name === 'ARG' || name === 'ENV').map(({ text }) => text);
    expect(named.map((text) => text.split('=')[0])).toEqual([
      'GIT_COMMIT',
      'GIT_TREE_STATE',
      'BUILD_DATE',
      'TARGETARCH',
      'NODE_ENV',
    ]);
  });
});

test('the builder is sent only what the Dockerfile copies', () => {
  const ignored = read('.dockerignore')
    .split('\n')
    .filter((line) => line && !line.startsWith('#'));
  const sent = ignored.filter((line) => line.startsWith('!')).map((line) => line.slice(1));
  const copied = [
    ...texts(build, 'COPY'),
    ...texts(final, 'COPY').filter((text) => !text.startsWith('--from')),
  ].flatMap((text) => text.split(' ').slice(0, -1));
  expect(ignored[0]).toBe('*');
  expect(copied.filter((path) => !sent.some((one) => path === one || path.startsWith(`${one}/`)))).toEqual([]);
});
