import { afterEach, expect, test } from 'vitest'
import * as z from 'zod'
import type { RunStore } from '../../../shared/runs/run-store.ts'
import { runsPool } from '../../../shared/runs/run-store.ts'
import { createVirtualClock, type VirtualClock } from '../../conformance/virtual-clock.ts'
import { post, startOf } from '../safety/safety-place.ts'
import type { TestPlace } from '../test-place.ts'

/**
 * Questions that are open for a week, in a place that lets 5 runs work at once: 200, or as many as SLUICE_QUESTIONS says. All
 * of it is the place's own: each run is started, asked and decided by its handlers, and each sweep is a call of the sweep. Time is virtual. The questions are asked on the first day.
 */
export interface WeekSize {
  readonly questions: number
  /** Of the test: `thorough` where it is too slow for every change. */
  readonly tags: readonly string[]
  /** From one sweep to the next. */
  readonly step_min: number
}

/** How many questions are asked. */
export const QUESTIONS = Number(process.env.SLUICE_QUESTIONS ?? 200)
const MAX_RUNS = 5
const MINUTE_MS = 60_000
/** Of this machine: what has to be loaded is. */
const PATIENCE_MS = 60_000
const DAY_SEC = 86_400

/** Calls of the run store since it was asked last; units where they are billed. */
export interface Used {
  readonly calls: number
  readonly leases: number
  readonly wcu: number
  readonly rcu: number
}

/** A place whose clock is this one, and nobody sweeps it but the test. */
export interface WeekPlace {
  readonly open: TestPlace
  /** The same store, whose calls do not count. */
  readonly looking: RunStore
  /** What was used since the last time. */
  used(): Used
}

export type OpenWeek = (clock: VirtualClock, max_runs: number) => Promise<WeekPlace>

/** Puts a count before each method of a store; answers how to read it. */
export function countingCalls(store: RunStore): { readonly store: RunStore; used(): Omit<Used, 'wcu' | 'rcu'> } {
  const count = { calls: 0, leases: 0 }
  const counted = Object.entries(store).map(([name, work]) => {
    const call = (...args: never[]) => {
      count.calls += 1
      if (/Lease/.test(name)) count.leases += 1
      return (work as (...args: never[]) => unknown)(...args)
    }
    return [name, typeof work === 'function' ? call : work]
  })
  return {
    store: Object.fromEntries(counted) as RunStore,
    used() {
      const seen = { ...count }
      Object.assign(count, { calls: 0, leases: 0 })
      return seen
    },
  }
}

const text = { text: { type: 'string' } }
const work = { id: 'work', outputs: text, agent: { provider: 'probe', model: 'm', prompt: 'Go on.' } }
const asks = (name: string, approval: object) => ({
  name,
  blocks: [{ ...work, approval: { required: true, prompt: 'Go on?', ...approval } }],
})

/** What is asked, how many of ten, and how it ends by itself. */
const KINDS = [
  { of_ten: 7, dag: asks('plain', { timeout_sec: 7 * DAY_SEC - 600 }), end: undefined },
  { of_ten: 1, dag: asks('reminded', { timeout_sec: 7 * DAY_SEC - 600, remind_sec: 2 * DAY_SEC }), end: undefined },
  { of_ten: 1, dag: asks('passes', { timeout_sec: 3 * DAY_SEC, on_timeout: 'approve' }), end: 'completed' },
  { of_ten: 1, dag: asks('fails', { timeout_sec: 4 * DAY_SEC, on_timeout: 'fail' }), end: 'failed' },
] as const
const TEN = KINDS.flatMap((kind) => Array.from({ length: kind.of_ten }, () => kind))

const ORDINARY = { name: 'ordinary', blocks: [work, { ...work, id: 'then', depends: 'work.succeeded' }] }

/** One day of the week: what its sweeps used. */
interface Day extends Used {
  readonly looked: number
  /** The most that one sweep looked at. */
  readonly most: number
}

interface Sweep extends Used {
  readonly looked: number
}

const NO_DAY: Day = { calls: 0, leases: 0, wcu: 0, rcu: 0, looked: 0, most: 0 }

function withSweep(day: Day, { calls, leases, wcu, rcu, looked }: Sweep): Day {
  return {
    calls: day.calls + calls,
    leases: day.leases + leases,
    wcu: day.wcu + wcu,
    rcu: day.rcu + rcu,
    looked: day.looked + looked,
    most: Math.max(day.most, looked),
  }
}

/** Of each figure the one in the middle: who comes at the same time as another reads once more. */
function typical(all: readonly Used[]): Used {
  const middle = (of: (one: Used) => number) => all.map(of).toSorted((a, b) => a - b)[all.length >> 1] ?? 0
  return {
    calls: middle(({ calls }) => calls),
    leases: middle(({ leases }) => leases),
    wcu: middle(({ wcu }) => wcu),
    rcu: middle(({ rcu }) => rcu),
  }
}

/** The same but for one unit: which of two that come at the same time reads once more is chance. */
function expectAlike({ calls, leases, wcu, rcu }: Used, usual: Used): void {
  expect({ calls, leases }).toEqual({ calls: usual.calls, leases: usual.leases })
  expect(Math.abs(wcu - usual.wcu)).toBeLessThanOrEqual(1)
  expect(Math.abs(rcu - usual.rcu)).toBeLessThanOrEqual(1)
}

/** None costs more than some reads and a write besides. */
function expectNoneDearer(all: readonly Used[], usual: Used): void {
  for (const { calls, wcu, rcu } of all) {
    expect(calls).toBeLessThanOrEqual(usual.calls + 6)
    expect(wcu).toBeLessThanOrEqual(usual.wcu + 4)
    expect(rcu).toBeLessThanOrEqual(usual.rcu + 8)
  }
}

interface AskedRun {
  readonly run_id: string
  readonly kind: (typeof KINDS)[number]
}

/** What happens in the place, one thing after the other, and what each of it used. */
function happenings({ open, used, looking }: WeekPlace, clock: VirtualClock) {
  const head = (run_id: string) => looking.head({ tenant: 'main', run_id })
  /** Lets everything happen that needs no time but some turns, and at last a little of it. */
  const until = async (holds: () => Promise<boolean>, what: string): Promise<void> => {
    const late = Date.now() + PATIENCE_MS
    for (let turns = 1; !(await holds()); turns += 1) {
      if (Date.now() > late) throw new Error(`did not get there: ${what}`)
      await (turns % 400 === 0 ? clock.advance(50) : new Promise((resolve) => setImmediate(resolve)))
    }
  }
  /** What a function answers that may have to wait for something meanwhile. */
  const answered = async <T>(call: Promise<T>, what: string): Promise<T> => {
    let isOver = false
    const over = () => {
      isOver = true
    }
    call.then(over, over)
    await until(async () => isOver, what)
    return call
  }
  const ended = (run_id: string) => until(async () => (await head(run_id))?.state !== 'running', 'a run ends')
  const freed = () =>
    until(async () => Object.keys(await looking.leases(runsPool('main'))).length === 0, 'no place is held')
  const started = async (dag: object) => {
    const { status, json } = await answered(startOf(open, dag), 'a start is answered')
    expect(status, JSON.stringify(json)).toBe(201)
    return String(json.run_id)
  }
  return {
    head,
    ended,
    freed,
    async ask(kind: (typeof KINDS)[number]): Promise<AskedRun & { readonly own: Used }> {
      used()
      const run_id = await started(kind.dag)
      await until(async () => (await head(run_id))?.resting !== undefined, 'a run rests')
      await freed()
      return { run_id, kind, own: used() }
    },
    /** A run of two blocks that asks nobody. */
    async ordinary(): Promise<Used> {
      used()
      const run_id = await started(ORDINARY)
      await ended(run_id)
      await freed()
      await clock.settle()
      expect((await head(run_id))?.state).toBe('completed')
      return used()
    },
    async sweep(): Promise<Sweep> {
      used()
      const { looked } = (await answered(open.place.invoke('sweep', {}), 'a sweep ends')) as { readonly looked: number }
      await clock.settle()
      return { ...used(), looked }
    },
    /** The whole inbox, page after page, and what each of them took. */
    async inbox() {
      const pages: Used[] = []
      const listed: string[] = []
      for (let cursor: unknown; cursor !== null; ) {
        used()
        const { approvals, next_cursor } = await answered(inboxPage(open, cursor), 'a page is read')
        pages.push(used())
        listed.push(...approvals.map(({ run_id }) => run_id))
        cursor = next_cursor
      }
      return { pages, listed }
    },
    async decide(run_id: string): Promise<void> {
      const [[approval_id = '', { digest = '' } = {}] = []] = Object.entries((await head(run_id))?.approvals ?? {})
      const body = { approval_id, decision: 'approve', digest }
      const { status } = await answered(post(open, 'decide-approval', { run_id, body }), 'a decision is answered')
      expect(status).toBe(200)
    },
  }
}

type Happenings = ReturnType<typeof happenings>

/** Step after step: those who ask, a sweep, and four times a day an ordinary run. */
function walkWeek(happen: Happenings, clock: VirtualClock, { questions, step_min }: WeekSize) {
  const steps = 1_440 / step_min
  const asked: AskedRun[] = []
  const starts: Used[] = []
  const days: Day[] = []
  const ordinary: Used[] = []
  const idle: Used[] = []
  let n = 0
  const askSome = async () => {
    const wanted = Math.min(questions, Math.ceil((questions * (n + 1)) / steps))
    while (asked.length < wanted) {
      const { own, ...run } = await happen.ask(TEN[asked.length % TEN.length] ?? KINDS[0])
      asked.push(run)
      starts.push(own)
    }
  }
  return {
    asked,
    starts,
    days,
    ordinary,
    idle,
    async until(day: number) {
      for (const end = Math.floor(day * steps); n < end; n += 1) {
        await askSome()
        await clock.advance(step_min * MINUTE_MS)
        const swept = await happen.sweep()
        if (swept.looked === 0) idle.push(swept)
        const today = Math.floor(n / steps)
        days[today] = withSweep(days[today] ?? NO_DAY, swept)
        if (n % (steps / 4) === 1) ordinary.push(await happen.ordinary())
      }
    },
  }
}

async function repeated(once: () => Promise<Used>): Promise<Used> {
  const all: Used[] = []
  while (all.length < 5) all.push(await once())
  return typical(all)
}

/** The week on one kind of store. */
export function openApprovalsSuite(store: string, openWeek: OpenWeek, size: WeekSize): void {
  const { questions } = size
  const steps = 1_440 / size.step_min
  let place: WeekPlace | undefined
  afterEach(() => place?.open.close())

  test(`${questions} open approvals over a week, on ${store}: they hold no place, cost a day what few cost, and end as somebody or their time says`, {
    timeout: 1_800_000,
    tags: [...size.tags],
  }, async () => {
    const clock = createVirtualClock()
    place = await openWeek(clock, MAX_RUNS)
    const { looking } = place
    const happen = happenings(place, clock)
    const stateOf = async ({ run_id }: AskedRun) => (await happen.head(run_id))?.state

    // What they cost beside nothing that is open; documents are known from then on.
    await happen.ordinary()
    const alone = { ordinary: await repeated(happen.ordinary), sweep: await repeated(happen.sweep) }

    // A week but an hour: no question's time is over but where its document says less.
    const week = walkWeek(happen, clock, size)
    await week.until(6 + 23 / 24)
    const { asked, starts, days } = week
    expect(asked).toHaveLength(questions)
    await happen.freed()
    expect(await Promise.all(asked.map(stateOf))).toEqual(asked.map(({ kind }) => kind.end ?? 'running'))

    // Starts, ordinary runs and sweeps cost what they cost beside nothing.
    const tenth = Math.ceil(questions / 10)
    const usual = { start: typical(starts.slice(TEN.length, TEN.length + tenth)), ...alone }
    expectAlike(typical(starts.slice(-tenth)), usual.start)
    expectAlike(typical(week.ordinary), usual.ordinary)
    expectAlike(typical(week.idle), usual.sweep)
    expectNoneDearer(starts.slice(TEN.length), usual.start)
    expectNoneDearer(week.ordinary, usual.ordinary)
    expectNoneDearer(week.idle, usual.sweep)
    // Who is waited for is looked after ever less often: some times on the first day, then once a day and when his time comes.
    expect(days[0]?.looked).toBeLessThanOrEqual(12 * questions)
    for (const { looked } of days.slice(1)) expect(looked).toBeLessThanOrEqual(3 * questions)
    for (const { looked, calls, wcu } of days) {
      expect(calls).toBeLessThanOrEqual(steps * alone.sweep.calls + 12 * (looked + questions))
      expect(wcu).toBeLessThanOrEqual(8 * (looked + questions))
    }
    // The pool is asked for by those alone whose time was over: once to take a place, once to give it back.
    const over = asked.filter(({ kind }) => kind.end !== undefined)
    const leases = days.reduce((sum, day) => sum + day.leases, 0)
    expect(leases - alone.sweep.leases * days.length * steps).toBeLessThanOrEqual(3 * over.length)

    // The inbox: each once, and its last page costs what its first does.
    const waiting = asked.filter(({ kind }) => kind.end === undefined)
    const { listed, pages } = await happen.inbox()
    expect(listed.toSorted()).toEqual(waiting.map(({ run_id }) => run_id).toSorted())
    expectNoneDearer(pages, pages[0] ?? NO_DAY)

    // Some hundreds are decided at once, a hundred times as many as may work at a time; none is refused.
    const decided = waiting.filter((_, i) => i % Math.ceil(waiting.length / Math.min(500, questions / 5)) === 0)
    for (const { run_id } of decided) await happen.decide(run_id)
    for (const { run_id } of decided) await happen.ended(run_id)
    expect(new Set(await Promise.all(decided.map(stateOf)))).toEqual(new Set(['completed']))

    // The time of all others is over when the eighth day is.
    await week.until(8.1)
    const late = new Set(decided)
    const rest = await Promise.all(waiting.filter((one) => !late.has(one)).map(stateOf))
    expect(new Set(rest)).toEqual(new Set(['failed']))
    await happen.freed()
    expect(await looking.queued('main', 10)).toEqual([])
    if (process.env.SLUICE_FIGURES !== undefined)
      console.log(store, JSON.stringify({ usual, days, page: typical(pages) }, null, 1))
  })
}

const PageSchema = z.looseObject({
  approvals: z.array(z.looseObject({ run_id: z.string() })),
  next_cursor: z.string().nullable(),
})

async function inboxPage(open: TestPlace, cursor: unknown) {
  const event = {
    httpMethod: 'GET',
    path: '/',
    pathParameters: null,
    queryStringParameters: { status: 'pending', limit: '100', ...(typeof cursor === 'string' ? { cursor } : {}) },
    headers: {},
    body: null,
    isBase64Encoded: false,
  }
  const { statusCode, body } = (await open.place.invoke('list-approvals', event)) as {
    readonly statusCode: number
    readonly body: string
  }
  expect(statusCode, body).toBe(200)
  return PageSchema.parse(JSON.parse(body))
}
