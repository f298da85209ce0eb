import { expect, test } from 'vitest'
import { flattenToSteps, type OrderExpression, pair } from '../../../shared/compile/steps.ts'

const block = (index: number): OrderExpression => ({ kind: 'block', block: index, holdsBlock: true, depth: 0 })
const join = { before: 3, sources: [0] }
const wait: OrderExpression = { kind: 'wait', join, holdsBlock: false, depth: 0 }
const barrier: OrderExpression = { kind: 'none', holdsBlock: false, depth: 0 }
const row = (index: number) => [{ kind: 'block', block: index }]

test('flatten() makes one Parallel of a Parallel that is a whole branch, ordered by first blocks', () => {
  const inner = pair('seq', barrier, pair('par', block(2), block(0)))
  expect(flattenToSteps(pair('par', inner, block(1)))).toMatchObject([
    { kind: 'par', branches: [row(0), row(1), row(2)] },
  ])
})

test('flatten() makes no Parallel of one branch', () => {
  expect(flattenToSteps(pair('par', barrier, block(0)))).toMatchObject(row(0))
  expect(flattenToSteps(pair('par', barrier, barrier))).toMatchObject([])
})

test('flatten() moves a branch that only waits behind its Parallel', () => {
  const both = [
    { kind: 'par', branches: [row(0), row(1)] },
    { kind: 'wait', join },
  ]
  expect(flattenToSteps(pair('par', pair('par', block(0), wait), block(1)))).toMatchObject(both)
  expect(flattenToSteps(pair('par', block(0), wait))).toMatchObject([...row(0), { kind: 'wait', join }])
})
