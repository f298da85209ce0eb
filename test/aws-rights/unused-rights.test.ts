import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { tracesFolder } from '../aws/rights-trace.ts'
import { readTraces, rightsLeft, rightUses } from '../aws/unused-rights.ts'
import { SELDOM_USED } from './seldom-used.ts'

/** Runs after every file of project `aws`, and reads what they traced. */
const TESTS = join(import.meta.dirname, '../aws')

/** Files that deploy: each leaves a trace when it is over. */
const deploying = readdirSync(TESTS).filter(
  (name) => name.endsWith('.test.ts') && readFileSync(join(TESTS, name), 'utf8').includes('await deploy('),
)
const folder = tracesFolder()
const traces = existsSync(folder) ? readTraces(folder) : []
const missing = deploying.filter((name) => !traces.some(({ file }) => file === name))

test('every role uses every action it is allowed', ({ skip }) => {
  const uses = rightUses(traces)
  const { unused, stale } = rightsLeft(uses, Object.values(SELDOM_USED).flat())
  const used = uses.filter(({ calls }) => calls > 0).length
  console.info(`${used} of ${uses.length} rights were used in ${traces.length} of ${deploying.length} files`)
  // Some are used by chance: that one was is no failure.
  if (stale.length > 0) console.info(['Used after all:', ...stale].join('\n  '))
  if (missing.length > 0) {
    console.info(['Not used there:', ...unused].join('\n  '))
    skip(`only a run of all files of test/aws can tell; without a trace: ${missing.join(', ')}`)
  }
  const advice = 'allowed and never used: take it away, or say in test/aws-rights/seldom-used.ts why not'
  expect(unused, [advice, ...unused].join('\n  ')).toEqual([])
})
