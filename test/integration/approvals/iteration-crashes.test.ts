import { afterEach, expect, test } from 'vitest'
import { Fault } from '../../../shared/errors.ts'
import { runIdOfKey } from '../../../shared/runs/ids.ts'
import type { RunStore } from '../../../shared/runs/run-store.ts'
import { createHastyClock } from '../hasty-clock.ts'
import { type ApprovalPlace, deploy, openApprovalPlace } from './approval-place.ts'

let open: ApprovalPlace | undefined
const time = createHastyClock()
afterEach(async () => {
  time.rest()
  await open?.close()
  open = undefined
})

/** The nth call of the store about one run, or the one in its place, fails: not made, or made and not answered. */
interface Plan {
  readonly ids: readonly string[]
  readonly when: 'before' | 'after'
  left: number
}

/** More than an iteration makes; those behind them are of the sweep and of the next run. */
const CALLS = 40

test('whichever call of the store fails, a rejection makes one run in place of the other', {
  tags: ['thorough'],
  timeout: 60_000,
}, async () => {
  open = await openApprovalPlace({}, { clock: time.clock })
  const place = open
  const plans: Plan[] = []
  failAsPlanned(place.place.world.runs, plans)
  const cases = Array.from(
    { length: 2 * CALLS },
    (_, i) => ({ n: (i >> 1) + 1, when: i % 2 === 0 ? 'before' : 'after' }) as const,
  )
  const runs = await Promise.all(
    cases.map(async ({ n, when }) => {
      const id = await place.start(deploy({ on_reject: 'iterate', timeout_sec: 86_400 }))
      const { approval_id } = await place.asked(id, 'deploy')
      const next = runIdOfKey('main', 'iterate', `${id}|${approval_id}`)
      const plan: Plan = { ids: [id, next], when, left: 0 }
      expect(await place.decide(id, 'user:ana', { decision: 'reject', feedback: 'again' })).toBe('rejected')
      plan.left = n
      plans.push(plan)
      return { id, next, n, when, plan }
    }),
  )
  time.hurry()
  for (const { id, next, n, when } of runs) {
    const end = (await place.ended(id)).at(-1)
    expect([n, when, end?.type, end?.type === 'run:iterated' && end.data.next_run]).toEqual([
      n,
      when,
      'run:iterated',
      next,
    ])
    await place.asked(next, 'deploy')
  }
  expect(runs.filter(({ plan }) => plan.left <= 0).length).toBeGreaterThan(60)
  const { runs: all } = await place.place.world.runs.list('main', { limit: 500 })
  expect(all).toHaveLength(2 * runs.length)
})

/** Events are what the test itself reads. */
function failAsPlanned(runs: RunStore, plans: readonly Plan[]): void {
  for (const [name, method] of Object.entries(runs)) {
    if (typeof method !== 'function' || name === 'events') continue
    const call = method.bind(runs) as (...given: readonly unknown[]) => Promise<unknown>
    const faulty = async (...given: readonly unknown[]) => {
      const when = strike(plans, given)
      if (when === 'before') throw away(name)
      const answer = await call(...given)
      if (when === 'after') throw away(name)
      return answer
    }
    Object.assign(runs, { [name]: faulty })
  }
}

function strike(plans: readonly Plan[], given: readonly unknown[]): Plan['when'] | undefined {
  const text = plans.length === 0 ? '' : JSON.stringify(given)
  const plan = plans.find(({ ids, left }) => left > 0 && ids.some((id) => text.includes(id)))
  if (plan !== undefined) plan.left -= 1
  return plan?.left === 0 ? plan.when : undefined
}

function away(name: string): Fault {
  return new Fault('Unavailable', 'store_busy', `the store is away (${name})`)
}
