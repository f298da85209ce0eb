import { beforeAll, describe, expect, test } from 'vitest'
import { runDemo } from './run-demo.ts'

let out = ''
let code: number | null = null
beforeAll(async () => {
  ;({ out, code } = await runDemo('demo-goals.ts'))
})

/** What is printed for one target. */
const printedFor = (target: number) => out.split(`\ntarget = ${target}. `)[1]?.split('\ntarget = ')[0] ?? ''
const goals = (target: number) =>
  [...printedFor(target).matchAll(/^ +[\d.]+ s {2}goal, (.*)$/gm)].map(([, line]) => line)
const accuracy = (target: number) => /accurate {2}.*cv_accuracy_mean is ([\d.]+)/.exec(printedFor(target))?.[1]

describe('npm run demo:goals', { tags: ['thorough'] }, () => {
  test('ends by itself, and as it should', () => {
    expect(out).not.toMatch(/^error:|✗/m)
    expect(code).toBe(0)
    expect(out).toContain('MIT licence')
  })

  test('a target the data meet is SUCCESS at once', () => {
    expect(goals(0.7)).toEqual(['attempt 1: MET, 4 of 4 criteria; PASS x MET: SUCCESS, next accept'])
    expect(printedFor(0.7)).toMatch(/^trust +PASS: 100 \(VERIFIED\)$/m)
    expect(accuracy(0.7)).toBe('0.72')
  })

  test('one that more columns reach is PARTIAL, then SUCCESS', () => {
    expect(goals(0.73)).toEqual([
      'attempt 1: NOT_MET, 3 of 4 criteria; PASS x NOT_MET: PARTIAL, next pivot',
      'attempt 2: MET, 4 of 4 criteria; PASS x MET: SUCCESS, next accept',
    ])
    expect(accuracy(0.73)).toBe('0.7325')
  })

  test('one they never reach is PARTIAL twice, then BLOCKED, however sound the work is', () => {
    expect(goals(0.9)).toEqual([
      'attempt 1: NOT_MET, 3 of 4 criteria; PASS x NOT_MET: PARTIAL, next pivot',
      'attempt 2: NOT_MET, 3 of 4 criteria; PASS x NOT_MET: PARTIAL, next pivot',
      'attempt 3: BLOCKED, 3 of 4 criteria; PASS x BLOCKED: BLOCKED, next none',
    ])
    expect(printedFor(0.9).match(/It goes on as run_\w{26}$/gm)).toHaveLength(2)
    expect(printedFor(0.9)).toMatch(/Maximum attempts reached/)
    expect(printedFor(0.9)).toMatch(/^trust +PASS: 100 \(VERIFIED\)$/m)
  })
})
