import type { Reporter, TestCase, TestModule, TestSpecification } from 'vitest/node'

/**
 * Prints ONE closing line, `N passed, N failed` (`, N skipped` when there are), after everything else: what .ci/run and
 * `npm run test:all` add up. A file that cannot be loaded, a failing hook and an error outside any test each count as one
 * failed. Before it: each failed test with its sentence, its seed where it has one, and the command that runs it alone; each
 * test that passed at its second try only, with what the first one said: somebody has to look into it. The unit tests are
 * told when they are over, which is first. A file of which nothing is heard for three times the limit of its tests (a loop
 * that never waits ends by no limit) is one failed, and ends the run: somebody has to hear of it.
 */
export function countReporter(): Reporter {
  let unitsLeft = 0
  let began = 0
  let isLeftOut: (test: TestCase) => boolean = () => false
  const units: TestModule[] = []
  const silent = new Map<TestModule, Silence>()
  const hear = (module: TestModule, last: string, limit?: number) =>
    silent.set(module, { ms: 0, last, limit: limit ?? module.project.config.testTimeout })
  setInterval(() => endWhereSilent(silent), TICK_MS).unref()
  return {
    onInit({ config: { tagsFilter: [filter] = [] } }) {
      // `thorough` or `!thorough`: the others are left for another command, not skipped.
      const tag = filter?.replace(/^!/, '') ?? ''
      if (filter !== undefined) isLeftOut = (test) => test.tags.includes(tag) === filter.startsWith('!')
    },
    onTestRunStart(specifications: readonly TestSpecification[]) {
      began = Date.now()
      unitsLeft = specifications.filter(({ project }) => project.name === 'unit').length
    },
    onTestModuleStart: (module) => void hear(module, 'its start'),
    onTestCaseReady: (test) => void hear(test.module, test.fullName, test.options.timeout),
    onTestCaseResult: (test) => void hear(test.module, test.fullName),
    onTestModuleEnd(module) {
      silent.delete(module)
      if (module.project.name !== 'unit') return
      units.push(module)
      unitsLeft -= 1
      const seconds = Math.round((Date.now() - began) / 1_000)
      if (unitsLeft === 0) process.stdout.write(`Unit tests: ${countLine(units, 0, isLeftOut)}, ${seconds} s\n`)
    },
    onTestRunEnd(modules, unhandled) {
      const lines = [
        ...modules.flatMap(secondTries),
        ...modules.flatMap(failures),
        countLine(modules, unhandled.length, isLeftOut),
      ]
      // After the other reporters' summaries, which are printed in this same turn.
      setImmediate(() => process.stdout.write(`${lines.join('\n')}\n`))
    },
  }
}

const TICK_MS = 10_000

/** How long nothing was heard of a file (a machine asleep counts nothing), since what, and the limit of what runs in it. */
interface Silence {
  ms: number
  readonly last: string
  readonly limit: number
}

function endWhereSilent(silent: ReadonlyMap<TestModule, Silence>): void {
  for (const [module, silence] of silent) {
    silence.ms += TICK_MS
    if (silence.ms < 3 * silence.limit + 60_000) continue
    const said = `nothing was heard of it for ${Math.round(silence.ms / 60_000)} minutes, since: ${silence.last}`
    process.stdout.write(`FAILED: ${module.relativeModuleId}\n  ${said}\n${alone(module)}\n0 passed, 1 failed\n`)
    process.exit(1)
  }
}

function secondTries(module: TestModule): readonly string[] {
  return [...module.children.allTests('passed')].flatMap((test) => {
    if (test.diagnostic()?.flaky !== true) return []
    const [first] = test.result().errors ?? []
    return [
      `AT ITS SECOND TRY ONLY: ${module.relativeModuleId} > ${test.fullName}`,
      first?.stack ?? first?.message ?? '',
    ]
  })
}

function failures(module: TestModule): readonly string[] {
  const outside = brokenOutsideTests(module) > 0 ? [`FAILED: ${module.relativeModuleId}`, alone(module)] : []
  return [...outside, ...[...module.children.allTests('failed')].flatMap((test) => failureOf(module, test))]
}

function failureOf(module: TestModule, test: TestCase): readonly string[] {
  const message = test.result().errors?.[0]?.message ?? ''
  // As fast-check tells it.
  const seed = /\bseed: (-?\d+)/.exec(message)?.[1]
  return [
    `FAILED: ${module.relativeModuleId} > ${test.fullName}`,
    `  ${message.split('\n')[0] ?? ''}`,
    alone(module, test.fullName, seed),
  ]
}

/** With SLUICE_SEED the laws of a file draw the same cases again (test/seed.ts). */
function alone(module: TestModule, name?: string, seed?: string): string {
  const chosen = name === undefined ? '' : ` -t ${JSON.stringify(patternOf(name))}`
  const given = seed === undefined ? '' : `SLUICE_SEED=${seed} `
  return `  alone: ${given}npx vitest run --project ${module.project.name} ${module.relativeModuleId}${chosen}`
}

/** vitest takes a pattern, of the names of describe and test with a space between. */
function patternOf(name: string): string {
  return name.replaceAll(' > ', ' ').replace(/[.*+?^${}()|[\]\\`]/g, '.')
}

function countLine(modules: readonly TestModule[], unhandled: number, isLeftOut: (test: TestCase) => boolean): string {
  const counts = { passed: 0, failed: unhandled, skipped: 0 }
  for (const module of modules) {
    for (const test of module.children.allTests()) {
      const { state } = test.result()
      if (!isLeftOut(test)) counts[state === 'pending' ? 'skipped' : state] += 1
    }
    counts.failed += brokenOutsideTests(module)
  }
  const skipped = counts.skipped > 0 ? `, ${counts.skipped} skipped` : ''
  return `${counts.passed} passed, ${counts.failed} failed${skipped}`
}

/** Errors of the file itself and of its describe blocks (imports, hooks): no test carries them. */
function brokenOutsideTests(module: TestModule): number {
  const suites = [...module.children.allSuites()].filter((suite) => suite.errors().length > 0)
  return suites.length + (module.errors().length > 0 ? 1 : 0)
}
