import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ON_CONFLICTS } from '../../../shared/dag/dag.ts'
import {
  beginTurn,
  type Comer,
  EMPTY_QUEUE,
  endingTurns,
  enterQueue,
  type KeyQueue,
  keyQueueName,
  leaveQueue,
  MOST_WAITING,
  readyTurns,
  slotRank,
  standingBefore,
} from '../../../shared/runs/key-queue.ts'

const time = (second: number) => new Date(Date.UTC(2026, 10, 27) + second * 1_000).toISOString()

function comer(run_id: string, more: Partial<Comer['turn']> & { priority?: number; child?: boolean } = {}): Comer {
  const { priority = 0, child = false, ...turn } = more
  return { run_id, priority, child, turn: { queue: 'q', limit: 1, on_conflict: 'queue', ...turn } }
}

function come(queue: KeyQueue, one: Comer, second = 0): KeyQueue {
  const entered = enterQueue(queue, one, time(second))
  if (entered.is !== 'in') throw new Error(`${one.run_id} was ${entered.is}`)
  return entered.queue
}

const begin = (queue: KeyQueue, run_id: string, second = 0) => beginTurn(queue, run_id, time(second)).queue
const leave = (queue: KeyQueue, ...ended: string[]) => leaveQueue(queue, new Set(ended), time(0))
const waits = ({ waiting }: KeyQueue) => waiting.map(({ run_id }) => run_id)
const ready = (queue: KeyQueue) => readyTurns(queue).map(({ run_id }) => run_id)
const ending = (queue: KeyQueue) => endingTurns(queue).map(({ run_id }) => run_id)

/** a goes on, b and c wait. */
function busy(): KeyQueue {
  const first = begin(come(EMPTY_QUEUE, comer('a')), 'a')
  return come(come(first, comer('b'), 1), comer('c'), 2)
}

describe('a queue of one key', () => {
  test('lets the first in, and the next when it has left, in the order they came', () => {
    const queue = busy()
    expect([waits(queue), ready(queue)]).toEqual([['b', 'c'], []])
    expect(beginTurn(queue, 'b', time(3)).is).toBe('waits')
    const left = leave(queue, 'a')
    expect(ready(left)).toEqual(['b'])
    expect(beginTurn(left, 'b', time(3))).toMatchObject({ is: 'running', queue: { running: [{ run_id: 'b' }] } })
    expect(standingBefore(queue, 'c')?.map(({ run_id }) => run_id)).toEqual(['b'])
    expect(standingBefore(queue, 'a')).toBeUndefined()
  })

  test('is left as it is by who comes, begins or leaves again', () => {
    const queue = busy()
    expect(come(queue, comer('a'), 9)).toBe(queue)
    expect(come(queue, comer('c'), 9)).toBe(queue)
    expect(beginTurn(queue, 'a', time(9))).toEqual({ is: 'running', queue })
    expect(leave(queue, 'x')).toBe(queue)
    expect(beginTurn(queue, 'x', time(9))).toEqual({ is: 'gone', queue })
  })

  test('goes by arrival, also where a clock is behind', () => {
    const queue = come(busy(), comer('d'), -3_000)
    expect(waits(queue)).toEqual(['b', 'c', 'd'])
  })

  test('a priority is a head start in seconds, and no more: who came that long before goes first', () => {
    const queue = come(come(busy(), comer('d'), 100), comer('e', { priority: 60 }), 150)
    expect(waits(queue)).toEqual(['b', 'c', 'e', 'd'])
    expect(waits(come(queue, comer('f', { priority: -3_600 }), 150))).toEqual(['b', 'c', 'e', 'd', 'f'])
    expect(slotRank(time(150), 60)).toBe(time(90))
  })

  test('each begins by the limit of its own document, and nobody passes one that must wait', () => {
    const queue = come(come(busy(), comer('d', { limit: 3 }), 3), comer('e', { limit: 3 }), 4)
    expect(ready(queue)).toEqual([])
    const left = leave(queue, 'b', 'c')
    expect(ready(left)).toEqual(['d', 'e'])
    expect(ready(come(left, comer('f', { limit: 1 }), 5))).toEqual(['d', 'e'])
    const mixed = come(come(EMPTY_QUEUE, comer('a', { limit: 1 })), comer('b', { limit: 3 }))
    expect(ready(mixed)).toEqual(['a'])
    expect(ready(begin(mixed, 'a'))).toEqual(['b'])
  })

  test('a child goes before runs nobody waits for, but not before one that has its slot', () => {
    const child = come(busy(), comer('child', { child: true }), 3)
    expect(waits(child)).toEqual(['child', 'b', 'c'])
    const armed = beginTurn(busy(), 'b', time(3)).queue
    expect(waits(come(armed, comer('child', { child: true }), 4))).toEqual(['b', 'child', 'c'])
  })

  test('skip: who comes while as many go on, or are about to, is not let in', () => {
    expect(enterQueue(busy(), comer('d', { on_conflict: 'skip' }), time(3))).toEqual({ is: 'skipped' })
    const waiting = come(EMPTY_QUEUE, comer('a', { on_conflict: 'skip' }))
    expect(enterQueue(waiting, comer('d', { on_conflict: 'skip' }), time(3))).toEqual({ is: 'skipped' })
    expect(enterQueue(waiting, comer('d', { on_conflict: 'skip', limit: 2 }), time(3)).is).toBe('in')
  })

  test('cancel_running: the newest go on, as many as may; older ones are to end, and keep their places until they have', () => {
    const queue = come(busy(), comer('d', { on_conflict: 'cancel_running' }), 3)
    expect(ending(queue)).toEqual(['a', 'b', 'c'])
    expect(ready(queue)).toEqual([])
    expect(beginTurn(queue, 'b', time(3)).is).toBe('gone')
    expect(ready(leave(queue, 'a'))).toEqual(['d'])
    expect(ending(come(busy(), comer('d', { on_conflict: 'cancel_running', limit: 2 }), 3))).toEqual(['a', 'b'])
  })

  test('replace_queued: those that wait are to end, those that go on stay', () => {
    const queue = come(busy(), comer('d', { on_conflict: 'replace_queued' }), 3)
    expect(ending(queue)).toEqual(['b', 'c'])
    expect(ready(leave(queue, 'a'))).toEqual(['d'])
    const free = come(
      come(EMPTY_QUEUE, comer('a', { limit: 2 })),
      comer('b', { limit: 2, on_conflict: 'replace_queued' }),
    )
    expect(ending(free)).toEqual([])
  })

  test('has room for two hundred that wait', () => {
    let queue = begin(come(EMPTY_QUEUE, comer('a')), 'a')
    for (let n = 0; n < MOST_WAITING; n += 1) queue = come(queue, comer(`w${n}`), n)
    expect(enterQueue(queue, comer('more'), time(0))).toEqual({ is: 'full' })
    expect(Buffer.byteLength(JSON.stringify(queue))).toBeLessThan(40_000)
  })

  test('its name tells neither document nor value, and never joins two of them', () => {
    const names = [
      ['a', 'b'],
      ['a', undefined],
      ['b', 'a'],
      ['a', 1],
      ['a', '1'],
      ['a', true],
    ] as const
    const made = names.map(([name, value]) => keyQueueName(name, value))
    expect(new Set(made).size).toBe(names.length)
    for (const name of made) expect(name).toMatch(/^[0-9a-f]{64}$/)
  })
})

/** What happens to a queue, by run: it comes, begins or ends. */
const act = fc.record({
  what: fc.constantFrom('come', 'come', 'begin', 'begin', 'end'),
  n: fc.nat(11),
  limit: fc.integer({ min: 1, max: 3 }),
  on_conflict: fc.constantFrom(...ON_CONFLICTS),
  child: fc.boolean(),
  priority: fc.constantFrom(0, 0, 5, -5),
})

type Act = typeof act extends fc.Arbitrary<infer T> ? T : never

/** It begins if its turn has come, and nobody who could have begun before it has to wait for it. */
function beginLawfully(queue: KeyQueue, run_id: string, second: number): KeyQueue {
  const first = ready(queue)
  const limit = queue.waiting.find((one) => one.run_id === run_id)?.limit
  const begun = beginTurn(queue, run_id, time(second))
  if (begun.is !== 'running' || limit === undefined) return begun.queue
  expect(first).toContain(run_id)
  expect(begun.queue.running.length).toBeLessThanOrEqual(limit)
  expect(ready(begun.queue)).toEqual(expect.arrayContaining(first.filter((id) => id !== run_id)))
  return begun.queue
}

function play(queue: KeyQueue, { what, n, ...more }: Act, second: number, came: Set<string>): KeyQueue {
  const run_id = `r${n}`
  if (what === 'begin') return beginLawfully(queue, run_id, second)
  if (what === 'end') return leaveQueue(queue, new Set([run_id]), time(second))
  if (came.has(run_id)) return queue
  const entered = enterQueue(queue, comer(run_id, more), time(second))
  if (entered.is !== 'in') return queue
  came.add(run_id)
  return entered.queue
}

/** Whoever goes on or is to end leaves, and who is ready begins. */
function ended(queue: KeyQueue): KeyQueue {
  const begun = ready(queue).reduce((now, id) => begin(now, id), queue)
  return leave(begun, ...begun.running.map(({ run_id }) => run_id), ...ending(begun))
}

test('law: no run begins beyond its limit, none passes one that could begin, and all that wait get their turn', () => {
  void fc.assert(
    fc.property(fc.array(act, { maxLength: 60 }), (acts) => {
      const came = new Set<string>()
      let queue = acts.reduce((now, one, second) => play(now, one, second, came), EMPTY_QUEUE)
      for (let round = 0; round < 50; round += 1) queue = ended(queue)
      expect(queue).toEqual(EMPTY_QUEUE)
    }),
    { numRuns: 300 },
  )
})
