import { describe, expect, test } from 'vitest';
import { acceptsJson, chooseCoding, chooseStreamForm } from '../../../../src/http/answer/accept.ts';

describe('Accept', () => {
  test.each([
    [undefined, true],
    ['', true],
    ['*/*', true],
    ['application/*', true],
    ['application/json', true],
    ['APPLICATION/JSON; charset=utf-8', true],
    ['application/json;q=0.1', true],
    ['text/html, application/xhtml+xml, */*;q=0.8', true],
    ['application/json;as=Table;g=meta.k8s.io;v=v1, application/json', true],
    ['application/json;as=Table;g=meta.k8s.io;v=v1', false],
    ['application/json;as=Table;v=v1;g=meta.k8s.io, text/plain', false],
    ['application/yaml', false],
    ['text/html', false],
    ['application/vnd.kubernetes.protobuf', false],
    ['application/json;v=v1', false],
    ['application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1', false],
    ['application/json;stream=watch;charset=utf-8', true],
    ['application/json;q=0', false],
    ['application/json;q=0, */*', false],
    ['*/*;q=0', false],
    ['application/json;q=0, application/*', false],
    ['application/*;q=0, */*', false],
    ['application/*;q=0, application/json;q=0.1', true],
    ['*/*;q=0, application/*', true],
    // Java's HttpURLConnection by itself, in 11.0.13 and 17.0.9 for example
    ['text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2', true],
    ['*', true],
    ['*;q=0', false],
    ['application/json;q=.9', true],
    ['application/json;q=0.5000', true],
    ['application/json;q=1.', true],
    ['application/json;q=2', true],
    ['application/json;q=x', true],
    ['application/json;q=', true],
    ['application/json;q=-1', true],
    ['application/json;q=.0', false],
    ['application/json;q=0.0000', false],
    ['text/html;q=x', false],
    ['application', false],
    [',', false],
  ])('%s accepts JSON: %s', (accept, expected) => {
    expect(acceptsJson(accept)).toBe(expected);
  });
});

describe('Accept-Encoding', () => {
  test.each([
    [undefined, 'identity'],
    ['', 'identity'],
    ['identity', 'identity'],
    ['br', 'identity'],
    ['gzip;q=0', 'identity'],
    ['gzip;q=0, *', 'identity'],
    ['gzip;q=.0', 'identity'],
    ['gzip;q=.2, identity', 'identity'],
    ['identity, gzip;q=0.5', 'identity'],
    ['gzip', 'gzip'],
    ['GZIP', 'gzip'],
    ['x-gzip', 'gzip'],
    ['*', 'gzip'],
    ['gzip;q=0.5', 'gzip'],
    ['gzip, gzip;q=0', 'gzip'],
    ['x-gzip;q=0, gzip', 'gzip'],
    ['identity;q=0.9, identity;q=0.1, gzip;q=0.5', 'identity'],
    ['gzip;q=.5', 'gzip'],
    ['gzip;q=high, identity;q=0.5', 'gzip'],
    ['identity;q=.5, gzip;q=.7500', 'gzip'],
    ['br;q=1, gzip;q=0.8, *;q=0.1', 'gzip'],
    ['gzip, deflate, br, zstd', 'gzip'],
    ['identity;q=0.5, gzip', 'gzip'],
  ])('NC-04 %s is answered in %s', (accepted, coding) => {
    expect(chooseCoding(accepted)).toBe(coding);
  });
});

describe('Accept of a stream', () => {
  const METADATA = 'as=PartialObjectMetadata;g=meta.k8s.io;v=v1';

  test.each([
    [`application/json;${METADATA}`, 'json, metadata'],
    ['application/json; v=v1; G=meta.k8s.io; AS=PartialObjectMetadata', 'json, metadata'],
    ['application/json; v=v1; g=meta.k8s.io; as=partialobjectmetadata', 'neither'],
    [`application/json;as=Table;${METADATA}`, 'json, metadata'],
    [`application/json;${METADATA};sv=v2`, 'neither'],
    [`application/json;stream=watch;sv=v1;${METADATA}`, 'json, metadata'],
    ['application/json;stream=other', 'neither'],
    ['application/json;v=v1', 'neither'],
    ['application/json;as=;g', 'json'],
    ['Text/Event-Stream', 'events'],
    [`text/event-stream;${METADATA};q=0.8, text/*`, 'events, metadata'],
    ['text/event-stream;as=Table, text/*', 'neither'],
    ['application/json;q=0.1;q=0.9, text/event-stream;q=0.5', 'json'],
    // client-go's metadata client
    [
      `application/vnd.kubernetes.protobuf;${METADATA},application/json;${METADATA},application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1beta1,application/json`,
      'json, metadata',
    ],
    [`application/json, application/json;${METADATA}`, 'json'],
    [`application/json;q=0.5, application/json;${METADATA};q=0.6`, 'json, metadata'],
    [`application/json;${METADATA};q=0.5, application/json`, 'json'],
    [`application/json;${METADATA}, */*`, 'json, metadata'],
    [`application/json;${METADATA};q=0`, 'neither'],
    ['application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1beta1', 'neither'],
    ['application/json;as=PartialObjectMetadata;v=v1', 'neither'],
    ['application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1', 'neither'],
    ['application/json;as=Table;g=meta.k8s.io;v=v1, application/json', 'json'],
    [`*/*;${METADATA}`, 'json, metadata'],
    [`*/*;${METADATA}, application/json`, 'json'],
    [`*/*, application/*;${METADATA}`, 'json, metadata'],
    [`*/*, *;${METADATA}`, 'json'],
    [`text/event-stream;${METADATA}`, 'events, metadata'],
    [`text/event-stream, application/json;${METADATA};q=0.9`, 'events'],
    [`text/event-stream;q=0.5, application/json;${METADATA}`, 'json, metadata'],
    ['text/event-stream', 'events'],
    ['text/event-stream, application/json', 'json'],
    ['text/event-stream, application/*', 'events'],
    ['text/event-stream, */*', 'events'],
    ['text/event-stream;q=0, text/*', 'neither'],
    ['text/event-stream;q=0.5, text/*, application/*;q=0.7', 'json'],
    ['text/*', 'neither'],
    [undefined, 'json'],
    ['*/*', 'json'],
  ])('%s: %s', (accept, expected) => {
    const chosen = chooseStreamForm(accept);
    const words = chosen ? [chosen.form, ...(chosen.metadataOnly ? ['metadata'] : [])] : ['neither'];
    expect(words.join(', ')).toBe(expected);
  });
});
