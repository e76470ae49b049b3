import type { Representation } from '../../resources/bytes/representation.ts';
import type { AnswerWriter } from '../answer/answer.ts';
import { toJsonBytes, toRepresentation } from '../answer/document.ts';
import { sendRepresentation } from '../answer/send-representation.ts';
import type { Handler, Route } from '../exchange.ts';

/** The public descriptions, as files of the project. */
export interface Descriptions {
  /** The text of `api/platform.openapi.yaml`. */
  readonly platformYaml: string;
  /** Reads YAML into plain data. */
  parseYaml(text: string): unknown;
}

export interface DescriptionParts {
  readonly platform: string;
  readonly version: string;
  readonly descriptions: Descriptions;
}

/** `/openapi` and what it lists: the description of this server, with its own group names and release. */
export function descriptionRoutes(parts: DescriptionParts, writer: AnswerWriter): Route[] {
  // Made on first use: parsing 75 KB of YAML takes 80 ms, a good part of a start.
  const serve = (make: () => Buffer, contentType: string): Handler => {
    let representation: Representation | undefined;
    return (exchange) => {
      representation ??= toRepresentation(make());
      return sendRepresentation(writer, exchange, { contentType, cacheControl: 'no-cache', representation });
    };
  };
  const documents: readonly [string, Handler][] = [
    [
      '/openapi/platform.json',
      serve(() => toJsonBytes(parts.descriptions.parseYaml(adapt(parts))), 'application/json'),
    ],
    ['/openapi/platform.yaml', serve(() => Buffer.from(adapt(parts)), 'application/yaml')],
  ];
  const paths = documents.map(([path]) => path);
  const index: [string, Handler] = ['/openapi', serve(() => toJsonBytes({ paths }), 'application/json')];
  return [index, ...documents].map(([template, handler]) => ({
    template,
    access: 'public',
    admission: 'other',
    produces: 'any',
    methods: { GET: handler, HEAD: handler },
  }));
}

/** The file is written for the platform `gatehouse`: groups, annotation prefixes and the realm carry its name. */
function adapt({ platform, version, descriptions }: DescriptionParts): string {
  return descriptions.platformYaml
    .replaceAll(/\bgatehouse\.io\b/g, `${platform}.io`)
    .replaceAll('realm="gatehouse"', `realm="${platform}"`)
    .replace(/^ {2}version: .*$/m, `  version: ${version}`);
}
