import { afterEach, describe, expect, test } from 'vitest'
import type { HandlerCall } from '../../functions/attempts/handlers/block-handler.ts'
import { moveTask } from '../../functions/attempts/handlers/move-task.ts'
import { firstDaily } from '../how-much.ts'
import { DOCUMENT, movesOf, openTaskPlace, taskOf } from './task-place.ts'
import type { TestPlace } from './test-place.ts'

let open: TestPlace | undefined
afterEach(async () => {
  await open?.close()
  open = undefined
})

const REVIEWED = (round: number) => (round === 1 ? 'There are no tests at all.' : 'Tested by a golden file.')
const silent = { info: () => undefined, error: () => undefined }

/** What the run above comes to, whatever happened on the way. */
const MOVES = [
  'plan: none -> PENDING',
  'execute: PENDING -> IN_PROGRESS',
  'review: IN_PROGRESS -> REVIEW',
  'execute~1: REVIEW -> IN_PROGRESS',
  'review~1: IN_PROGRESS -> REVIEW',
  'done: REVIEW -> DONE',
]

type Write = (...args: unknown[]) => Promise<unknown>

/** Lets the process hang at its n-th write of a task or after it: `append` counts only between two of them. */
function hangAt({ place }: TestPlace, n: number, when: 'before' | 'after' | 'event' | 'end') {
  const runs = place.world.runs as unknown as Record<'putContext' | 'append', Write>
  const { putContext, append } = { putContext: runs.putContext.bind(runs), append: runs.append.bind(runs) }
  const reached = Promise.withResolvers<void>()
  const dead = Promise.withResolvers<never>()
  dead.promise.catch(() => undefined)
  const seen = { writes: 0, appends: 0 }
  const hang = () => {
    reached.resolve()
    return dead.promise
  }
  runs.putContext = async (...args) => {
    seen.writes += 1
    if (seen.writes > n || (seen.writes === n && when === 'before')) return hang()
    const answer = await putContext(...args)
    return seen.writes === n && when === 'after' ? hang() : answer
  }
  runs.append = async (...args) => {
    if (seen.writes < n) return append(...args)
    seen.appends += 1
    // First the event of the new version, then the end of the block.
    if (when === 'event' || seen.appends > 1) return hang()
    return append(...args)
  }
  return { reached: reached.promise, die: () => dead.reject(new Error('killed')) }
}

describe('a crash', () => {
  const points = MOVES.flatMap((move, at) =>
    (['before', 'after', 'event', 'end'] as const).map((when) => [move, when, at + 1] as const),
  )
  // Each way to die at one of the moves.
  const isDaily = (n: number, when: string) => when === ['before', 'after', 'event', 'end'][n % 4]
  const sorted = points.toSorted((a, b) => Number(isDaily(b[2], b[1])) - Number(isDaily(a[2], a[1])))
  for (const { tags, rows } of firstDaily(4, sorted))
    test.each(rows)('at %s, %s its write: the task is moved once', { tags }, async (_move, when, n) => {
      open = await openTaskPlace(REVIEWED, { log: silent })
      const { reached, die } = hangAt(open, n, when)
      const started = open.start(DOCUMENT, {}, { 'idempotency-key': 'one' })
      started.catch(() => undefined)
      await reached
      // The folder is copied at once; whoever hangs is let go then, so that the end of the dead place need not wait for him.
      const killed = open.kill()
      die()
      await killed
      const id = await open.start(DOCUMENT, {}, { 'idempotency-key': 'one' })
      const events = await open.ended(id)
      expect(events.at(-1)?.type).toBe('run:completed')
      const task = await taskOf(open, id)
      expect(movesOf(task, id)).toEqual(MOVES)
      const versions = events.flatMap(({ type, data }) => (type === 'context:patched' ? [data.version] : []))
      expect(versions).toEqual(versions.map((_, at) => at + 1))
    })
})

/** A run of the shipped document, waiting for its reviewer: the task is under REVIEW. */
async function underReview(): Promise<string> {
  open = await openTaskPlace(() => new Promise(() => {}))
  const id = await open.start(DOCUMENT)
  await open.until(id, ({ type, block_id }) => type === 'block:started' && block_id === 'judge-change')
  return id
}

/** A call of the handler as a block of that run makes it. */
function moving(run_id: string, block_id: string, to: string, more: Partial<HandlerCall> = {}): Promise<object> {
  if (open === undefined) throw new Error('no place')
  const call: HandlerCall = {
    inputs: {},
    values: {},
    outputs: { status: { type: 'string', required: true } },
    config: { to },
    world: open.place.world,
    run: { tenant: 'main', run_id },
    block_id,
    epoch: 0,
    attempt: 1,
    idempotency_key: `${run_id}/0/0/1/0`,
    feedback: [],
    task_gates: [],
    judge: async () => true,
    signal: new AbortController().signal,
    ...more,
  }
  return moveTask.run(call)
}

describe('two blocks that move at once', () => {
  test('one is first; the other is judged by where the task stands then, and refused', async () => {
    const id = await underReview()
    const both = await Promise.allSettled([moving(id, 'a', 'DONE'), moving(id, 'b', 'DONE')])
    expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
    const refused = both.find(({ status }) => status === 'rejected') as PromiseRejectedResult
    expect(refused.reason).toMatchObject({ name: 'GateFailed', code: 'task_move_refused' })
    expect(refused.reason.message).toContain('it is DONE, and DONE is reached from REVIEW')
    const task = await taskOf(open as TestPlace, id)
    expect(task.moves.filter(({ to }) => to === 'DONE')).toHaveLength(1)
  })

  test('moves that are both allowed are both made, one after the other, and nothing else of the context is lost', async () => {
    const id = await underReview()
    const { runs } = (open as TestPlace).place.world
    const run = { tenant: 'main', run_id: id }
    const put = async (key: string): Promise<void> => {
      const { version, values } = (await runs.context(run)) ?? { version: 0, values: {} }
      if (!(await runs.putContext(run, { version: version + 1, values: { ...values, [key]: 1 } }, version)))
        await put(key)
    }
    const moves = ['a', 'b', 'c'].map((block) => moving(id, block, 'PENDING'))
    await Promise.all([...moves, put('x'), put('y')])
    const context = await runs.context(run)
    expect(context?.values).toMatchObject({ x: 1, y: 1 })
    expect(
      (await taskOf(open as TestPlace, id)).moves
        .slice(-3)
        .map(({ block_id }) => block_id)
        .toSorted(),
    ).toEqual(['a', 'b', 'c'])
  })
})

describe('a repeated call', () => {
  test('of the handler finds the move it made, also after others, and in any attempt', async () => {
    const id = await underReview()
    expect(await moving(id, 'back', 'IN_PROGRESS')).toEqual({ status: 'IN_PROGRESS' })
    await moving(id, 'again', 'REVIEW')
    expect(await moving(id, 'back', 'IN_PROGRESS', { attempt: 2 })).toEqual({ status: 'IN_PROGRESS' })
    expect((await taskOf(open as TestPlace, id)).status).toBe('REVIEW')
    // Another epoch is another move.
    await moving(id, 'back', 'IN_PROGRESS', { epoch: 1 })
    expect((await taskOf(open as TestPlace, id)).status).toBe('IN_PROGRESS')
  })

  test('of a block’s function changes nothing', async () => {
    const id = await underReview()
    const place = open as TestPlace
    const before = { task: await taskOf(place, id), events: (await place.events(id)).length }
    const input = { v: 1, tenant: 'main', run_id: id }
    for (const block of ['plan', 'execute', 'review'])
      await place.place.invoke('run-block', { in: input, block, joins: [] })
    expect({ task: await taskOf(place, id), events: (await place.events(id)).length }).toEqual(before)
  })

  test('of a step without a run, or with a malformed payload, is refused', async () => {
    await underReview()
    const { place } = open as TestPlace
    const input = { v: 1, tenant: 'main', run_id: `run_${'0'.repeat(26)}` }
    await expect(place.invoke('run-block', { in: input, block: 'plan', joins: [] })).rejects.toMatchObject({
      code: 'start_through_the_api',
    })
    await expect(place.invoke('run-block', { in: { v: 1 }, block: 'plan' })).rejects.toMatchObject({
      code: 'start_through_the_api',
    })
  })
})

test('a context that is full refuses the move', async () => {
  const id = await underReview()
  const { runs } = (open as TestPlace).place.world
  const run = { tenant: 'main', run_id: id }
  const { version = 0, values = {} } = (await runs.context(run)) ?? {}
  await runs.putContext(run, { version: version + 1, values: { ...values, big: 'x'.repeat(204_500) } }, version)
  await expect(moving(id, 'back', 'IN_PROGRESS')).rejects.toMatchObject({ code: 'context_too_large' })
})
