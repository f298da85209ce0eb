import type { KnipConfig } from 'knip'
import { FUNCTIONS } from './shared/catalog.ts'

/** Handlers are imported by the hosts through the catalog, so its files are entries. */
const config: KnipConfig = {
  entry: [
    ...FUNCTIONS.map(({ file }) => `functions/${file}`),
    'clients/cli/main.ts',
    'infra/local/main.ts',
    'infra/local/check-gates.ts',
    'functions/isolate/worker.ts',
    'scripts/*.{ts,mjs}',
    'test/bench/overhead.ts',
    'test/**/*.test.ts',
  ],
  project: ['{shared,functions,infra,clients,scripts,test}/**/*.{ts,mjs}', '!test/bench/node_modules/**'],
  ignoreWorkspaces: ['test/bench'],
  // The bench's packages have a package.json of their own; world-countries is read as a file by the demo.
  ignoreDependencies: ['@langchain/.*', 'p-graph', 'world-countries', 'node-.*'],
}

export default config
