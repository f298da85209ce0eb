import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { StageAnswer } from '../../../functions/research/stage-call.ts'
import type { SearchResult } from '../../../shared/research/payloads/result.ts'
import type { Stage } from '../../../shared/research/stages.ts'
import type { World } from '../../../shared/world.ts'
import { WHOLE } from '../../how-much.ts'
import { openResearchPlace, type ResearchPlace } from './research-place.ts'
import { callStage, chainOf, enterChain, goThrough } from './stepped-chain.ts'

/** Any stage may be called again, beside itself, or die anywhere: one event each, one result, a ledger that adds up. */
let place: ResearchPlace
let world: World
beforeAll(async () => {
  place = await openResearchPlace({ sweep_ms: 0 })
  world = place.place.world
})
afterAll(() => place.close())

const WALK = { topic: 'Which currency has the country whose capital is Oslo?' }
const ROUNDS = { topic: 'Who won the chess cup of Atlantis?', max_iterations: 1 }

/** The result without what a lost call adds to it. */
const plain = (result: SearchResult | undefined) => ({ ...result, tokens_used: undefined })

async function wholeChain(intent: { readonly topic: string }) {
  const run = await enterChain(world, intent)
  const answers = await goThrough((stage, event) => callStage(world, run, stage, event))
  return { answers, ...(await chainOf(world, run)) }
}

describe.each([
  ['a walk', WALK, WHOLE ? 1 : 13],
  // Every third of its calls: most are those of the walk again.
  ['a retighten and a refine round', ROUNDS, WHOLE ? 3 : 39],
])('%s', (_name, intent, stride) => {
  test('called twice at each stage, one after the other, answers the same twice and works once', async () => {
    const once = await wholeChain(intent)
    const run = await enterChain(world, intent)
    await goThrough(async (stage, event) => {
      const first = await callStage(world, run, stage, event)
      expect(await callStage(deaf(world), run, stage, event)).toEqual(first)
      return first
    })
    const chain = await chainOf(world, run)
    expect(chain.told).toEqual(once.told)
    expect(chain.result).toEqual(once.result)
    expect(chain.ledger).toEqual(once.ledger)
  })

  test('called twice at each stage at the same time records each once', async () => {
    const once = await wholeChain(intent)
    const run = await enterChain(world, intent)
    await goThrough(async (stage, event) => {
      const both = await Promise.allSettled([1, 2, 3].map(() => callStage(world, run, stage, event)))
      const answers = both.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
      expect(new Set(answers.map((one) => JSON.stringify(one))).size).toBe(1)
      for (const one of both) if (one.status === 'rejected') expect(one.reason).toMatchObject({ code: 'superseded' })
      return answers[0] ?? callStage(world, run, stage, event)
    })
    const chain = await chainOf(world, run)
    expect(chain.told).toEqual(once.told)
    expect(plain(chain.result)).toEqual(plain(once.result))
    const [committed, spent, told] = chain.ledger
    expect([committed, told, chain.result?.tokens_used]).toEqual([spent, spent, spent])
  })

  test('that dies before or after any call of a port goes on where it was', async () => {
    const once = await wholeChain(intent)
    const calls = await countCalls(intent)
    expect(calls).toBeGreaterThan(40)
    for (let at = 0; at < 2 * calls; at += stride) {
      const run = await enterChain(world, intent)
      const dying = dies(world, Math.floor(at / 2), at % 2 === 0 ? 'before' : 'after')
      await goThrough(async (stage, event) => {
        const answer = await Promise.race([callStage(dying.world, run, stage, event), dying.died])
        return answer ?? callStage(world, run, stage, event)
      })
      const chain = await chainOf(world, run)
      expect({ at, told: chain.told }).toEqual({ at, told: once.told })
      const [committed, spent, told] = chain.ledger
      expect({ at, ledger: [committed, told, chain.result?.tokens_used] }).toEqual({
        at,
        ledger: [spent, spent, spent],
      })
      expect(spent).toBeGreaterThanOrEqual(once.ledger[1] ?? 0)
      if (!chain.state?.degraded.some((why) => why.includes('budget')))
        expect(plain(chain.result)).toEqual(plain(once.result))
    }
  }, 120_000)
})

async function countCalls(intent: { readonly topic: string }): Promise<number> {
  const counted = dies(world, Number.POSITIVE_INFINITY, 'before')
  const run = await enterChain(world, intent)
  await goThrough((stage, event) => callStage(counted.world, run, stage, event))
  return counted.calls()
}

const PORTS = ['runs', 'objects', 'graph', 'search', 'providers'] as const

/** The World of a process that dies at a call: before it reaches the port, or after it did and before anybody hears. */
function dies(of: World, at: number, when: 'before' | 'after') {
  const died = Promise.withResolvers<undefined>()
  let calls = 0
  const guarded = async (call: () => unknown): Promise<unknown> => {
    const mine = calls++
    if (mine > at) return new Promise(() => undefined)
    if (mine === at && when === 'after') await call()
    if (mine !== at) return call()
    died.resolve(undefined)
    return new Promise(() => undefined)
  }
  const port = <T extends object>(real: T): T =>
    new Proxy(real, {
      get(target, name, receiver) {
        const member = Reflect.get(target, name, receiver)
        if (typeof member !== 'function') return member
        if (name === 'get' && target === of.providers) {
          return (...given: unknown[]) => port(member.apply(target, given) as object)
        }
        return (...given: unknown[]) => guarded(() => member.apply(target, given))
      },
    })
  const ports = Object.fromEntries(PORTS.map((name) => [name, port(of[name])]))
  // The dead hear no clock either.
  const delay = async (ms: number, signal?: AbortSignal) => {
    await of.clock.delay(ms, signal)
    if (calls > at) await new Promise(() => undefined)
  }
  // Members of World by their names, each of its own type.
  return { world: { ...of, ...ports, clock: { ...of.clock, delay } } as World, died: died.promise, calls: () => calls }
}

/** A World nobody can search or ask in: what was recorded must be enough. */
function deaf(of: World): World {
  const refuse = () => {
    throw new Error('there is nothing to do here')
  }
  const closed = <T extends object>(port: T): T => new Proxy(port, { get: () => refuse })
  // The loop entity is told again each time.
  const graph = { ...closed(of.graph), addTriples: of.graph.addTriples.bind(of.graph) } as World['graph']
  return { ...of, graph, search: closed(of.search), providers: closed(of.providers) }
}

describe('a stage that failed for good', () => {
  const until = async (last: Stage) => {
    const run = await enterChain(world, WALK)
    let before: StageAnswer = { step: 0, ref: '', next: 'nl_classify' }
    while (before.next !== last && before.next !== 'settle')
      before = await callStage(world, run, before.next, before_(before))
    return { run, event: before_(before) }
  }
  const before_ = ({ step, ref }: StageAnswer) => ({ step, ref })

  test.each<Stage>(['nl_classify', 'route_search', 'execute_subqueries', 'assess_sufficiency'])(
    '%s: the answer tells of it, begins the chain if nobody did, and counts what it set aside',
    async (stage) => {
      const { run, event } = await until(stage)
      const asks = stage === 'route_search' || stage === 'assess_sufficiency'
      const hung = hangs(world)
      const ghost = callStage(hung.world, run, stage, event).catch((error: unknown) => error)
      if (asks) await hung.asked
      const failed = { stage, error: 'Sandbox.Timedout' }
      const answer = await callStage(world, run, 'synthesize_answer', { ...event, step: event.step + 1, failed })
      expect(answer.next).toBe('settle')
      const before = await chainOf(world, run)
      expect(before.told.filter((one) => one === 'requested 0')).toHaveLength(1)
      expect(before.told.at(-1)).toBe(`synthesized ${event.step + 1}`)
      expect(before.result?.synthesis).toContain(`Degraded: ${stage} failed: Sandbox.Timedout.`)
      const [committed, spent, told] = before.ledger
      expect([committed, told, before.result?.tokens_used]).toEqual([spent, spent, spent])
      if (!asks) return
      // Whoever was asked all the time answers at last, and changes nothing any more.
      hung.answer()
      expect(await ghost).toMatchObject({ code: 'superseded' })
      expect(await chainOf(world, run)).toEqual(before)
    },
  )

  test('the plain answer of the same step is one of the two that is recorded', async () => {
    const { run, event } = await until('synthesize_answer')
    const failed = { stage: 'synthesize_answer', error: 'Unavailable' } as const
    const [one, two] = await Promise.allSettled([
      callStage(world, run, 'synthesize_answer', event),
      callStage(world, run, 'synthesize_answer', { ...event, failed, plain: true }),
    ])
    expect([one.status, two.status]).toContain('fulfilled')
    const chain = await chainOf(world, run)
    expect(chain.told.filter((told) => told.startsWith('synthesized'))).toHaveLength(1)
    const [committed, spent] = chain.ledger
    expect(committed).toBe(spent)
  })

  test('a late call of an earlier step answers what that step came to', async () => {
    const run = await enterChain(world, ROUNDS)
    const answers = await goThrough((stage, event) => callStage(world, run, stage, event))
    const before = await chainOf(world, run)
    expect(await callStage(deaf(world), run, 'nl_classify', { step: 0, ref: '' })).toEqual(answers[0])
    expect(await chainOf(world, run)).toEqual(before)
  })

  test('a run that was stopped goes to its settling, from whichever stage', async () => {
    const { run, event } = await until('route_search')
    await place.call('stop-run', run.run_id, {})
    expect(await callStage(world, run, 'route_search', event)).toEqual({
      step: event.step + 1,
      ref: event.ref,
      next: 'settle',
    })
  })
})

/** A World whose model answers when it is told to. */
function hangs(of: World) {
  const asked = Promise.withResolvers<void>()
  const go = Promise.withResolvers<void>()
  const provider = of.providers.get('extractive')
  const late = {
    async dispatch(request: Parameters<NonNullable<typeof provider>['dispatch']>[0]) {
      asked.resolve()
      await go.promise
      if (provider === undefined) throw new Error('there is no provider')
      return provider.dispatch(request)
    },
  }
  return { world: { ...of, providers: { ...of.providers, get: () => late } }, asked: asked.promise, answer: go.resolve }
}
