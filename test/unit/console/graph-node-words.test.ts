import { expect, test } from 'vitest'
import { blockStatuses, nodeWords } from '../../../clients/console/run/graph/block-status.ts'
import { foldRun } from '../../../shared/runs/fold-run.ts'

const node = { id: 'build', max_attempts: 3 }
const pending = blockStatuses(['build'], foldRun([])).get('build')
if (pending === undefined) throw new Error('a block of the document has a state')

test('a block that has not begun is its id and its state', () => {
  expect(nodeWords(node, { ...pending, label: 'pending' }, false)).toBe('build, pending')
})

test('what its picture shows by signs is said in words', () => {
  const live = { ...pending, label: 'waits for approval', attempt: 2, epoch: 1, passed: 2, failed: 1, waived: 1 }
  expect(nodeWords(node, { ...live, item_count: 5, items_done: 3 }, true)).toBe(
    'build, waits for approval, try 2 of 3, sent back once, 2 gates passed, 1 gate failed, 1 gate waived, 3 of 5 items done, on the critical path',
  )
})

test('an attempt that was lost is no try', () => {
  const live = { ...pending, label: 'running', attempt: 2, untried: 1 }
  expect(nodeWords(node, live, false)).toBe('build, running, 1 attempt not counted')
  expect(nodeWords(node, { ...live, attempt: 3 }, false)).toBe('build, running, try 2 of 3, 1 attempt not counted')
})
