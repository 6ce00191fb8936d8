// It makes the types of the documents in src/. The schema comes with the client, so no server is asked.

import { createRequire } from 'node:module';

const config = {
  schema: createRequire(import.meta.url).resolve('@atrium/client/schema.graphql'),
  documents: 'src/*.{ts,tsx}',
  generates: {
    'src/gql/': {
      preset: 'client',
      presetConfig: { fragmentMasking: false },
      config: {
        documentMode: 'string',
        useTypeImports: true,
        enumsAsTypes: true,
        nullability: { errorHandlingClient: true },
        strictScalars: true,
        scalars: {
          DateTime: 'string', UID: 'string', Duration: 'string', Base64: 'string', ByteCount: 'number',
          Int64: { input: 'string | number', output: 'string' }, StringMap: 'Record<string, string>', JSON: 'unknown', PathSegment: 'string | number',
        },
      },
    },
  },
};
export default config;
