import { z } from 'zod';
import { accountNames } from '../../src/accounts/names.ts';
import { loginRecordSchema } from '../../src/accounts/schema/login-record-schema.ts';
import { userSchema } from '../../src/accounts/schema/user-schema.ts';

/** An OpenAPI v3 schema of a CustomResourceDefinition. */
interface StructuralSchema {
  readonly type?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, StructuralSchema>>;
  readonly required?: readonly string[];
  readonly [keyword: string]: unknown;
}

interface Column {
  readonly name: string;
  readonly type: string;
  readonly jsonPath: string;
  readonly description?: string;
}

/** The definition of an account kind for the cluster. */
export interface AccountKind {
  readonly names: {
    readonly plural: string;
    readonly singular: string;
    readonly kind: string;
    readonly listKind: string;
    readonly shortNames: readonly string[];
    readonly categories: readonly string[];
  };
  readonly schema: StructuralSchema;
  readonly hasStatus: boolean;
  readonly columns: readonly Column[];
}

/** The platform in the names of the generated files. The chart and the server replace it by the configured one. */
export const PLATFORM = 'gatehouse';
export const NAMES = accountNames(PLATFORM);

const AGE: Column = { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' };

export const USERS: AccountKind = {
  names: {
    plural: 'users',
    singular: 'user',
    kind: 'User',
    listKind: 'UserList',
    shortNames: ['usr'],
    categories: ['iam'],
  },
  schema: structural(userSchema),
  hasStatus: true,
  columns: [
    { name: 'Email', type: 'string', jsonPath: '.spec.email' },
    { name: 'State', type: 'string', jsonPath: '.status.state' },
    { name: 'Last login', type: 'date', jsonPath: '.status.lastLoginTime' },
    AGE,
  ],
};

export const LOGIN_RECORDS: AccountKind = {
  names: {
    plural: 'loginrecords',
    singular: 'loginrecord',
    kind: 'LoginRecord',
    listKind: 'LoginRecordList',
    shortNames: ['logins'],
    categories: ['iam'],
  },
  schema: structural(loginRecordSchema),
  hasStatus: false,
  columns: [
    { name: 'User', type: 'string', jsonPath: `.metadata.labels.${NAMES.userRef.replaceAll('.', '\\.')}` },
    { name: 'Success', type: 'boolean', jsonPath: '.spec.success' },
    { name: 'Reason', type: 'string', jsonPath: '.spec.reason' },
    { name: 'Source', type: 'string', jsonPath: '.spec.sourceIP' },
    AGE,
  ],
};

/**
 * Converts a schema to the form that API servers accept. They allow a limit of `metadata` only for its name, and no
 * `additionalProperties` beside `properties`.
 */
function structural(schema: z.ZodType): StructuralSchema {
  const { required: _, ...whole } = z.toJSONSchema(schema, { target: 'openapi-3.0', io: 'input', override: closed });
  const { metadata, ...properties } = whole.properties as Record<string, StructuralSchema>;
  const { type, properties: limits } = metadata ?? {};
  return {
    ...whole,
    required: ['metadata', 'spec'],
    properties: { metadata: { type, properties: limits }, ...properties },
  } as StructuralSchema;
}

function closed({ jsonSchema }: { jsonSchema: Record<string, unknown> }): void {
  delete jsonSchema['additionalProperties'];
}
