import { expect, test } from 'vitest'
import { openFanOuts } from '../../../clients/cli/run/watch.ts'
import type { RunEvent } from '../../../shared/runs/event.ts'

const at = (seconds: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, seconds)).toISOString()
// What counting reads of an event, and no more.
const event = (type: string, seconds: number, more: object = {}) =>
  ({ type, at: at(seconds), block_id: 'rate', data: {}, ...more }) as unknown as RunEvent
const begun = (count: number, turn?: number) =>
  event('block:started', 0, { data: { items: { count, inputs_ref: 'r', ...(turn !== undefined && { turn }) } } })

test('a long list is a line a minute and one at its end', () => {
  const { lineOf } = openFanOuts()
  expect(lineOf(begun(12))).toBeUndefined()
  const said = Array.from({ length: 12 }, (_, item) => [
    lineOf(event('block:started', item * 10, { item })),
    lineOf(event(item === 3 ? 'block:failed' : 'block:completed', item * 10, { item })),
  ])
  expect(said.flat().filter((line) => line !== '')).toEqual([
    'rate: 7/12 items, 1 failed',
    'rate: 12/12 items, 1 failed',
  ])
})

test('a short list, a block without items, and what an agent does have lines of their own', () => {
  const { lineOf } = openFanOuts()
  expect(lineOf(begun(10))).toBeUndefined()
  expect(lineOf(event('block:completed', 1, { item: 0 }))).toBeUndefined()
  expect(lineOf(event('block:completed', 2))).toBeUndefined()
  expect(lineOf(begun(40, 1))).toBeUndefined()
  expect(lineOf(event('block:completed', 3, { item: 0 }))).toBeUndefined()
})
