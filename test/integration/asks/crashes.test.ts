import { afterEach, describe, expect, test } from 'vitest'
import { Fault } from '../../../shared/errors.ts'
import { isRunEnd } from '../../../shared/runs/event-types.ts'
import { EACH } from '../../how-much.ts'
import { fastClock } from '../fast-clock.ts'
import { openTestPlace, type TestPlace } from '../test-place.ts'
import { all, asked, asks, block, counting, decide, expectVerified } from './ask-place.ts'

/**
 * Functions that die between two steps of a question: a call of a port fails once, before or after its effect, and the
 * machine calls again. Whatever the place, the answer stands, nothing is asked twice for nothing and the outputs that a
 * person saw are the ones that are published.
 */
let open: TestPlace | undefined
afterEach(async () => {
  await open?.close()
  open = undefined
})

const silent = { info: () => undefined, error: () => undefined }
const retry = { max_attempts: 3, backoff: 'none', delay_ms: 0, jitter: 'none' }

const WAITING = {
  'post-gates': { blocks: [block('plan', [], { post_gates: [asks('good', 'good')], retry }), block('use', ['plan'])] },
  'pre-gates': {
    blocks: [
      block('first'),
      block('plan', ['first'], { pre_gates: [asks('good', 'good', 'first')], retry }),
      block('use', ['plan']),
    ],
  },
} as const
/** An estimate is 4,096 tokens and the prompt: every call asks. */
const budget = { tokens: 100, on_exceed: 'ask' }
const KINDS = {
  ...WAITING,
  'the budget': { budget, blocks: [block('plan', [], { retry })] },
  'the budget of items': {
    budget,
    blocks: [block('plan', [], { retry, foreach: { items: ['x', 'y'], as: 'item', max_concurrency: 2 } })],
  },
} as const

/** The `n`th of these calls fails, once; answers how many there were. */
function failNth(place: TestPlace, n: number, when: 'before' | 'after') {
  const { runs, machine } = place.place.world
  const seen = { calls: 0 }
  const cut = <A extends readonly unknown[], R>(call: (...args: A) => Promise<R>) => {
    return async (...args: A): Promise<R> => {
      seen.calls += 1
      const mine = seen.calls === n
      if (mine && when === 'before') throw new Fault('Unavailable', 'store_busy', 'cut')
      const done = await call(...args)
      if (mine) throw new Fault('Unavailable', 'store_busy', 'cut')
      return done
    }
  }
  Object.assign(runs, { append: cut(runs.append.bind(runs)), putApproval: cut(runs.putApproval.bind(runs)) })
  Object.assign(machine, { answer: cut(machine.answer.bind(machine)) })
  return seen
}

/** Says yes to every question until the run has ended. A decision that failed is sent again, as a person would. */
async function sayYes(place: TestPlace, run: string): Promise<void> {
  for (;;) {
    const { json } = await place.call('get-run', run)
    const { approvals } = json as unknown as { approvals: Readonly<Record<string, string>>[] }
    for (const { approval_id, digest, status, about } of approvals) {
      if (status !== 'pending') continue
      const decision = about === 'budget' ? 'approve' : 'waive'
      await place.call('decide-approval', run, { approval_id, digest, decision, feedback: 'fine' })
    }
    if ((await place.events(run)).some(({ type }) => isRunEnd(type))) return
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

async function playCut(kind: keyof typeof KINDS, n: number, when: 'before' | 'after') {
  const { probe, calls } = counting()
  const place = await openTestPlace({ providers: { probe }, clock: fastClock(200), log: silent })
  open = place
  // Start, then cut: what the start itself survives is tested elsewhere.
  const { machine } = place.place.world
  const start = machine.start.bind(machine)
  const seen = { calls: 0 }
  Object.assign(machine, {
    start: async (...args: Parameters<typeof start>) => {
      Object.assign(seen, { read: failNth(place, n, when) })
      return start(...args)
    },
  })
  const run = await place.start(KINDS[kind])
  await sayYes(place, run)
  const events = await place.ended(run)
  const { read } = seen as unknown as { readonly read: { readonly calls: number } }
  const said = `${kind} cut ${when} ${n}`
  expect(events.at(-1)?.type, said).toBe('run:completed')
  await expectVerified(place, run)
  const outputs = all(events, 'block:output').filter(({ block_id, item }) => block_id === 'plan' && item === undefined)
  expect(outputs, said).toHaveLength(1)
  // Dispatched again only where the function that dispatched died before it could record that.
  const works = kind === 'the budget of items' ? 2 : 1
  expect(calls('plan'), said).toBeLessThanOrEqual(works + 1)
  const questions = all(events, 'approval:requested').length
  expect(questions, said).toBeLessThanOrEqual(works + 1)
  expect(questions, said).toBeGreaterThanOrEqual(1)
  await place.close()
  open = undefined
  return read.calls
}

/** Each kind of write of one question of either kind; the others are in the run of everything. */
const DAILY = new Set(['after post-gates', 'before post-gates', 'after the budget'])

describe('a function that dies', () => {
  for (const kind of Object.keys(KINDS) as (keyof typeof KINDS)[]) {
    for (const when of ['before', 'after'] as const) {
      const tags = DAILY.has(`${when} ${kind}`) ? [] : ['thorough']
      test(`${when} any write of a question about ${kind} leaves nothing undone`, {
        tags,
        timeout: 300_000,
      }, async () => {
        for (let n = 1; ; n += EACH) if ((await playCut(kind, n, when)) < n) return
      })
    }
  }
})

describe('a place that is killed while it waits for an answer', () => {
  test.each(Object.keys(WAITING) as (keyof typeof WAITING)[])(
    'about %s goes on with it after a restart',
    async (kind) => {
      const { probe, calls } = counting()
      open = await openTestPlace({ providers: { probe } })
      const run = await open.start(KINDS[kind])
      const question = await asked(open, run, 'plan')
      await open.kill()
      expect((await open.call('get-run', run)).json).toMatchObject({ run: { state: 'paused_approval' } })
      expect((await decide(open, run, question, 'waive', 'fine')).status).toBe(200)
      const events = await open.ended(run)
      expect(events.at(-1)?.type).toBe('run:completed')
      expect([calls('plan'), calls('use')]).toEqual([1, 1])
      await expectVerified(open, run)
    },
  )

  test('and one that dies between the answer and its token is told by the restart', async () => {
    const { probe, calls } = counting()
    open = await openTestPlace({ providers: { probe } })
    const run = await open.start(KINDS['post-gates'])
    const question = await asked(open, run, 'plan')
    Object.assign(open.place.world.machine, { answer: async () => undefined })
    Object.assign(open.place.world.outbox, { nudge: async () => undefined })
    expect((await decide(open, run, question, 'waive', 'fine')).status).toBe(200)
    await open.kill()
    expect((await open.ended(run)).at(-1)?.type).toBe('run:completed')
    expect(calls('plan')).toBe(1)
    await expectVerified(open, run)
  })
})

describe('an attempt that is lost', () => {
  test('between the answer about its pre-gates and its dispatch is tried again, and nobody is asked again', async () => {
    let hang = true
    let hung = 0
    const { probe: answers, calls } = counting()
    const probe = {
      dispatch: (request: Parameters<typeof answers.dispatch>[0]) => {
        if (!request.prompt.startsWith('plan') || !hang) return answers.dispatch(request)
        hung += 1
        return new Promise<never>((_, no) => request.signal.addEventListener('abort', () => no(request.signal.reason)))
      },
    }
    open = await openTestPlace({ providers: { probe } })
    const run = await open.start(KINDS['pre-gates'])
    await decide(open, run, await asked(open, run, 'plan'), 'waive', 'go on')
    await expect.poll(() => hung).toBe(1)
    hang = false
    await open.kill()
    const events = await open.ended(run)
    expect(events.at(-1)?.type).toBe('run:completed')
    expect(all(events, 'block:retrying')).toMatchObject([{ attempt: 1, data: { code: 'ATTEMPT_LOST' } }])
    expect(all(events, 'block:asked')).toHaveLength(1)
    expect(calls('plan')).toBe(1)
    await expectVerified(open, run)
  })
})
