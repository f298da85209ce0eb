import { describe, expect, test } from 'vitest'
import { describeGates, explainGate } from '../../../shared/gates/explain.ts'
import type { GateFacts } from '../../../shared/gates/gate.ts'
import { factsOf, judged, refusals } from './judged.ts'

describe.each(describeGates())('$type', ({ type, examples, ...gate }) => {
  test('has an example that passes and one that does not', () => {
    expect(new Set(examples.map(({ passes }) => passes))).toEqual(new Set([true, false]))
  })

  test.each(examples)(
    '$check gives what its example says',
    async ({ check, passes, needs, outputs = {}, ...facts }) => {
      expect(refusals({ type, ...check })).toEqual([])
      const verdict = await judged({ type, ...check }, { ...factsOf(outputs), ...facts } as GateFacts)
      // What needs a port answers error here, where there is none; its own test has the port.
      if (needs === undefined) expect(verdict.status).toBe(passes ? 'passed' : 'failed')
      else expect(verdict.status).toBe('error')
    },
  )

  test('is explained with every parameter', () => {
    const text = explainGate({ type, examples, ...gate })
    for (const name of Object.keys((gate.params.properties ?? {}) as object)) expect(text).toContain(`| \`${name}\` |`)
    expect(text).not.toMatch(/undefined|\[object|any value, /)
  })
})
