import { expect, test } from 'vitest'
import { planRetry } from '../../../clients/console/run/session/retry-plan.ts'

const blocks = [
  { id: 'plan', upstream: [] },
  { id: 'build', upstream: ['plan'] },
  { id: 'lint', upstream: ['plan'] },
  { id: 'ship', upstream: ['build', 'lint'] },
]

test('without a block, what did not complete begins again', () => {
  const completed = new Set(['plan', 'lint'])
  expect(planRetry({ blocks, completed })).toEqual({ again: ['build', 'ship'], kept: ['plan', 'lint'] })
})

test('from a block, it and all behind it begin again, completed or not', () => {
  const completed = new Set(['plan', 'build', 'lint', 'ship'])
  expect(planRetry({ blocks, completed, from: 'build' })).toEqual({ again: ['build', 'ship'], kept: ['plan', 'lint'] })
})

test('what waits for what waits for it begins again too', () => {
  const completed = new Set(['plan', 'build', 'lint', 'ship'])
  expect(planRetry({ blocks, completed, from: 'plan' }).kept).toEqual([])
})

test('what failed elsewhere begins again as well', () => {
  expect(planRetry({ blocks, completed: new Set(['plan', 'build']), from: 'build' }).again).toEqual([
    'build',
    'lint',
    'ship',
  ])
})

test('a run that completed has nothing to begin again', () => {
  const completed = new Set(blocks.map(({ id }) => id))
  expect(planRetry({ blocks, completed })).toEqual({ again: [], kept: ['plan', 'build', 'lint', 'ship'] })
})
