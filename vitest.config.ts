import { availableParallelism, tmpdir } from 'node:os'
import { defineConfig } from 'vitest/config'
import { countReporter } from './scripts/count-reporter.ts'
import { memoryFolder } from './test/memory-folder.ts'

const project = (name: string, testTimeout: number) => ({
  name,
  include: [`test/${name}/**/*.test.ts`],
  // With SLUICE_SEED the laws draw the cases of that seed again.
  setupFiles: 'test/seed.ts',
  testTimeout,
  hookTimeout: testTimeout,
  // What is waited for comes in milliseconds; a loaded machine may take its time.
  expect: { poll: { timeout: 30_000 } },
})

/** Many files, one after the other, in one thread: each module is read and compiled once a thread, not once a file. */
const SAME_THREAD = { pool: 'threads', isolate: false } as const

/**
 * Places, processes and browsers share disks and clocks with whatever else the machine does: what is waited for and does
 * not come in time is waited for once more, and the test is named with its error at the end. A wrong value, a law that is
 * broken, an answer nobody expected is red at once.
 */
const TOO_LATE =
  /timed out|did not succeed in time|no such (event|message):|nothing of the kind:|never came true|did not get there/
const SHARES_THE_MACHINE = { retry: { count: 1, condition: TOO_LATE } }

/** What files of one run build once (test/integration/once-a-run.ts). */
const SHARED = 'test/integration/shared-folder.ts'

// Places of tests wait for their disk a fifth of the time; whether it keeps what it was given is no question of theirs.
process.env.TMPDIR = memoryFolder() ?? process.env.TMPDIR ?? tmpdir()

export default defineConfig({
  test: {
    reporters: ['default', countReporter()],
    tags: [
      {
        name: 'thorough',
        description: 'Too slow for every change: npm test leaves it out, npm run test:all and so CI run it.',
      },
    ],
    // Files wait for processes, disks and clocks a quarter of their time and more: one more than there are cores.
    maxWorkers: availableParallelism() + 1,
    // Of what runs in the test's own process: a place that was spawned counts nothing.
    coverage: {
      provider: 'v8',
      include: ['shared/**/*.ts', 'functions/**/*.ts', 'infra/local/**/*.ts', 'clients/cli/**/*.ts'],
      reporter: ['json-summary', 'text-summary'],
      reportsDirectory: 'coverage',
      reportOnFailure: true,
    },
    projects: [
      // Pure code: first, and told when it is over.
      { test: { ...project('unit', 60_000), ...SAME_THREAD, sequence: { groupOrder: 0 } } },
      { test: { ...project('conformance', 60_000), ...SAME_THREAD, sequence: { groupOrder: 1 } } },
      {
        test: {
          ...project('integration', 120_000),
          ...SAME_THREAD,
          ...SHARES_THE_MACHINE,
          globalSetup: SHARED,
          sequence: { groupOrder: 1 },
        },
      },
      // One process for many files: it keeps the one that runs their command lines (test/e2e/command-host.ts).
      {
        test: {
          ...project('e2e', 180_000),
          ...SHARES_THE_MACHINE,
          isolate: false,
          sequence: { groupOrder: 1 },
        },
      },
      { test: { ...project('faults', 600_000), sequence: { groupOrder: 5 } } },
      // Two files at once: each waits for real seconds half of its time, and both fill the machine with sandboxes, whose
      // time limits are real.
      {
        test: {
          ...project('aws', 240_000),
          ...SHARES_THE_MACHINE,
          globalSetup: [SHARED, 'test/aws/synthesize-once.ts'],
          maxWorkers: 2,
          sequence: { groupOrder: 2 },
        },
      },
      // What the files of project `aws` traced, when the last of them is over.
      { test: { ...project('aws-rights', 20_000), sequence: { groupOrder: 3 } } },
      // On emulators of others, where they are installed.
      { test: { ...project('slow', 300_000), ...SHARES_THE_MACHINE, sequence: { groupOrder: 4 } } },
    ],
  },
})
