import type { Reporter, TestModule } from 'vitest/node'

/**
 * Prints ONE closing line, `N passed, N failed` (`, N skipped` when there are), after everything else: what .ci/run
 * adds up. A file that cannot be loaded, a failing hook and an error outside any test each count as one failed. Before it,
 * each test that passed at its second try only, with what the first one said: somebody has to look into it.
 */
export function countReporter(): Reporter {
  return {
    onTestRunEnd(modules, unhandled) {
      const lines = [...modules.flatMap(secondTries), closingLine(modules, unhandled.length)]
      // After the other reporters' summaries, which are printed in this same turn.
      setImmediate(() => process.stdout.write(`${lines.join('\n')}\n`))
    },
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

function closingLine(modules: readonly TestModule[], unhandled: number): string {
  const counts = { passed: 0, failed: unhandled, skipped: 0 }
  for (const module of modules) {
    for (const test of module.children.allTests()) {
      const { state } = test.result()
      counts[state === 'pending' ? 'skipped' : state] += 1
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
