import { existsSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { readPolicies } from '../aws/iam-policy.ts'
import { known, recordedCalls, strange, words } from '../aws/recorded-calls.ts'
import { tracesFolder } from '../aws/rights-trace.ts'
import { readTemplates } from '../aws/template.ts'
import { stacksIn } from '../integration/aws/assembly.ts'
import { VARIANTS } from '../integration/aws/variants.ts'

/**
 * Calls that the deployed functions made in the tests of project `aws`, asked of the policies of stages of other settings: what
 * was allowed there is allowed here, and nothing of it is where the items, the stage or the asker is another's. Calls of a
 * right that a stage has not (`secrets.read` without keys) are none of it. Runs after every file of project `aws`.
 */
const folder = tracesFolder()
const recorded = existsSync(folder) ? recordedCalls(folder) : []

describe.each(Object.keys(VARIANTS))('a stage %s', (name) => {
  test('allows the calls that were made, and none of them for what is another’s', async ({ skip }) => {
    if (recorded.length === 0) skip('only a run of project aws before it records calls')
    const { out } = (await VARIANTS[name]?.()) ?? { out: '' }
    const policies = readPolicies(readTemplates(out, stacksIn(out)))
    const calls = known(policies, recorded)
    console.info(`${name}: ${calls.length} of ${recorded.length} recorded calls`)
    expect(calls.length).toBeGreaterThan(recorded.length / 2)
    const refused = calls.filter(({ who, wish }) => policies.grants(who, wish).length === 0)
    expect(refused.map(words)).toEqual([])
    const strangers = calls.flatMap((call) => strange(call.wish).map((wish) => ({ ...call, wish })))
    expect(strangers.length).toBeGreaterThan(calls.length / 2)
    const allowed = strangers.filter(({ who, wish }) => policies.grants(who, wish).length > 0)
    expect(allowed.map(words)).toEqual([])
  })
})
