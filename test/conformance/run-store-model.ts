import fc from 'fast-check'
import { expect, test } from 'vitest'
import { earlier } from '../../shared/runs/check-at.ts'
import type { RunEvent } from '../../shared/runs/event.ts'
import type {
  Append,
  Appended,
  BlockProjection,
  Head,
  HeadApproval,
  LaneGuard,
  NewRun,
  OutboxEntry,
  RunKey,
  RunState,
  RunStore,
} from '../../shared/runs/run-store.ts'
import { keyOf, newRun, pending, ready, step, time } from './run-store-fixture.ts'
import type { OpenedRunStore } from './run-store-suite.ts'

/** Random operations one after another: the store and a model of forty lines a concern give the same answers. */
export function modelTests(open: () => Promise<OpenedRunStore>): void {
  test('any sequence of operations answers as the model does', { timeout: 120_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(operation, { minLength: 1, maxLength: 60 }), async (operations) => {
        const opened = await open()
        try {
          const model = createModel()
          for (const { say, real, modelled } of [...operations, ...keys.map((run) => readAll(run))]) {
            expect(await real(opened.store), say).toEqual(modelled(model))
          }
        } finally {
          await opened.close()
        }
      }),
      { numRuns: 200 },
    )
  })
}

interface ModelRun {
  readonly run: NewRun
  state: RunState
  readonly events: RunEvent[]
  readonly lanes: Map<string, number>
  readonly running: Set<number>
  readonly approvals: Map<string, HeadApproval>
  readonly outbox: Map<string, OutboxEntry>
  readonly projections: Map<number, BlockProjection>
  readonly joins: Map<string, { readonly done: Set<string>; tokens: Set<string>; need?: number }>
  check_at: string | undefined
  version: number
}

type Model = Map<string, ModelRun>

interface Operation {
  readonly say: string
  real(store: RunStore): Promise<unknown>
  modelled(model: Model): unknown
}

const createModel = (): Model => new Map()
const idOf = ({ tenant, run_id }: RunKey) => `${tenant}/${run_id}`

function create(model: Model, run: NewRun): unknown {
  const there = model.get(idOf(run.meta))
  if (there !== undefined) return { created: false, meta: there.run.meta }
  const { check_at } = run
  const made: ModelRun = {
    run,
    state: 'running',
    events: [],
    lanes: new Map([['run', 10]]),
    running: new Set(),
    approvals: new Map(),
    outbox: new Map(run.outbox.map((entry) => [entry.id, entry])),
    projections: new Map(),
    joins: new Map(),
    check_at,
    version: 0,
  }
  push(made, { ...step(run.meta, 'run', 10, { at: run.meta.created_at }), events: [run.event] })
  model.set(idOf(run.meta), made)
  return { created: true, meta: run.meta }
}

function push(run: ModelRun, { lane, ordinal, events, at }: Append): void {
  for (const [i, event] of events.entries()) {
    const seq = run.events.length + 1
    run.events.push({ seq, id: `${lane}/${ordinal}/${i}`, run_id: run.run.meta.run_id, at, ...event })
  }
}

function refused(run: ModelRun, { lane, guard, approval, start }: Append): string | undefined {
  const now = run.lanes.get(lane) ?? null
  if (run.state !== 'running') return 'terminal'
  if ('is' in guard ? now !== guard.is : now !== null && now >= guard.below) return 'already'
  if (approval !== undefined && (run.approvals.get(approval.id)?.status ?? null) !== approval.was) return 'approval'
  if (start !== undefined && start.limit > 0 && run.running.size >= start.limit) return 'full'
  return undefined
}

function append(model: Model, append: Append): Appended {
  const run = model.get(idOf(append.run))
  if (run === undefined) return { ok: false, because: 'unknown_run' }
  const because = refused(run, append)
  if (because !== undefined) return { ok: false, because } as Appended
  push(run, append)
  run.lanes.set(append.lane, append.ordinal)
  if (append.start !== undefined) run.running.add(append.start.block)
  if (append.end !== undefined) run.running.delete(append.end.block)
  if (append.approval !== undefined) run.approvals.set(append.approval.id, append.approval.set)
  for (const entry of append.outbox ?? []) run.outbox.set(entry.id, entry)
  if (append.projection !== undefined) put(run, append.projection)
  run.state = append.state ?? run.state
  if (append.check_at !== undefined) run.check_at = earlier(run.check_at, append.check_at)
  return { ok: true, seq: run.events.length }
}

function head(run: ModelRun | undefined, lanes: readonly string[] | undefined): Head | undefined {
  if (run === undefined) return undefined
  const shown = [...run.lanes].filter(([lane]) => lanes === undefined || lanes.includes(lane))
  return {
    state: run.state,
    seq: run.events.length,
    lanes: Object.fromEntries(shown),
    running: [...run.running].sort((a, b) => a - b),
    approvals: Object.fromEntries(run.approvals),
    deadline_at: run.run.deadline_at,
    ...(run.check_at === undefined ? {} : { check_at: run.check_at }),
    outbox: [...run.outbox.values()].sort((a, b) => (`${a.at}${a.id}` < `${b.at}${b.id}` ? -1 : 1)),
  }
}

function list(model: Model, tenant: string, state: RunState | undefined): readonly string[] {
  return [...model.values()]
    .filter(({ run, state: now }) => run.meta.tenant === tenant && (state === undefined || now === state))
    .map(({ run }) => run.meta)
    .sort((a, b) => (`${a.created_at}${a.run_id}` > `${b.created_at}${b.run_id}` ? -1 : 1))
    .map(({ run_id }) => run_id)
}

const keys = [newRun(1), newRun(2), newRun(2, { tenant: 'other' })]
const someRun = fc.constantFrom(...keys)
const someLane = fc.constantFrom('0', '1', '10', 'a1', 'run')
const someOrdinal = fc.constantFrom(10, 20, 90, 1_010, 1_090)
const someBlock = fc.constantFrom(0, 1, 10, 11)

const someGuard = (ordinal: number): fc.Arbitrary<LaneGuard> =>
  fc.oneof(
    fc.constant({ below: ordinal }),
    fc.constantFrom(...[10, 20, 90, 1_010].filter((n) => n < ordinal), null).map((is) => ({ is })),
  )

const someChange: fc.Arbitrary<Partial<Append>> = fc.oneof(
  fc.constant({}),
  fc.record({ block: someBlock, limit: fc.constantFrom(0, 1, 2) }).map((start) => ({ start })),
  someBlock.map((block) => ({ end: { block } })),
  fc.record({ block: someBlock, n: fc.nat(4) }).map(({ block, n }) => ({ projection: projection(block, n) })),
  fc.record({ id: fc.constantFrom('p', 'q'), was: fc.constantFrom('pending' as const, null) }).map(({ id, was }) => ({
    approval: { id, was, set: was === null ? pending(1) : { ...pending(1), status: 'approved' as const } },
  })),
  fc.record({ id: fc.constantFrom('start', 'stop', 'x'), ms: fc.nat(3) }).map(({ id, ms }) => ({
    outbox: [{ id, at: time(ms), kind: 'stop_execution' as const, cause: `c${ms}` }],
    check_at: time(ms),
  })),
)

/** One in thirty ends the run: most sequences are about live ones. */
const someState = fc.oneof({ weight: 29, arbitrary: fc.constant({}) }, fc.constant({ state: 'failed' as const }))

const appends: fc.Arbitrary<Operation> = fc
  .record({ run: someRun, lane: someLane, ordinal: someOrdinal, events: fc.integer({ min: 1, max: 3 }) })
  .chain(({ run, lane, ordinal, events }) =>
    fc.record({ guard: someGuard(ordinal), change: someChange, state: someState }).map(({ guard, change, state }) => {
      const made = Array.from({ length: events }, (_, i) => ready(`b${i}`))
      const whole = step(keyOf(run.meta), lane, ordinal, { guard, events: made, ...change, ...state })
      return {
        say: `append ${JSON.stringify(whole)}`,
        real: (store) => store.append(whole),
        modelled: (model) => append(model, whole),
      }
    }),
  )

const reads: fc.Arbitrary<Operation> = fc
  .record({ run: someRun, lanes: fc.option(fc.array(someLane), { nil: undefined }), since: fc.nat(5) })
  .map(({ run, lanes, since }) => reading(run, lanes, since, 4))

const readAll = (run: NewRun): Operation => reading(run, undefined, 0, 10_000)

function reading(run: NewRun, lanes: readonly string[] | undefined, since: number, limit: number): Operation {
  const key = keyOf(run.meta)
  return {
    say: `read ${idOf(key)} lanes ${lanes} since ${since}`,
    real: async (store) => [
      await store.head(key, lanes),
      await store.events(key, since, limit),
      await store.projections(key),
    ],
    modelled: (model) => {
      const there = model.get(idOf(key))
      const projections = [...(there?.projections.values() ?? [])].sort((a, b) => a.block - b.block)
      return [head(there, lanes), there?.events.slice(since, since + limit) ?? [], projections]
    },
  }
}

const lists: fc.Arbitrary<Operation> = fc
  .record({ tenant: fc.constantFrom('main', 'other'), state: fc.constantFrom('running', 'failed', undefined) })
  .map(({ tenant, state }) => ({
    say: `list ${tenant} ${state}`,
    real: async (store) => {
      const { runs } = await store.list(tenant, { limit: 9, ...(state === undefined ? {} : { state }) })
      return runs.map(({ run_id }) => run_id)
    },
    modelled: (model) => list(model, tenant, state),
  }))

interface Draw {
  readonly block: number
  readonly n: number
  readonly source: string
}

interface Beside {
  real(store: RunStore, key: RunKey, draw: Draw): Promise<unknown>
  modelled(run: ModelRun, draw: Draw): unknown
}

const OUTBOX_IDS = ['start', 'stop', 'x']

/** Operations on what lies beside HEAD. */
const BESIDE: Readonly<Record<string, Beside>> = {
  putProjection: {
    real: (store, key, { block, n }) => store.putProjection(key, projection(block, n)),
    modelled: (run, { block, n }) => put(run, projection(block, n)),
  },
  renewLease: {
    real: (store, key, { block, n }) => store.renewLease(key, block, `h${n}`, time(n)),
    modelled: (run, { block, n }) => renew(run, block, `h${n}`, time(n)),
  },
  signalJoin: {
    real: (store, key, { block, source }) => store.signalJoin(key, String(block), source),
    modelled: (run, { block, source }) => signal(run, String(block), source),
  },
  waitJoin: {
    real: (store, key, { block, n }) => store.waitJoin(key, String(block), { need: n, token: `t${n}` }),
    modelled: (run, { block, n }) => wait(run, String(block), n, `t${n}`),
  },
  putContext: {
    real: (store, key, { n }) => store.putContext(key, { version: n + 1, values: { n } }, n),
    modelled: (run, { n }) => swap(run, n),
  },
  settleOutbox: {
    real: (store, key, { n }) => store.settleOutbox(key, OUTBOX_IDS.slice(n)),
    modelled: (run, { n }) => {
      for (const id of OUTBOX_IDS.slice(n)) run.outbox.delete(id)
    },
  },
}

/** Only for runs that exist: the port promises nothing for others. */
const beside: fc.Arbitrary<Operation> = fc
  .record({
    run: someRun,
    what: fc.constantFrom(...Object.entries(BESIDE)),
    draw: fc.record({ block: someBlock, n: fc.nat(4), source: fc.constantFrom('a', 'b', 'c') }),
  })
  .map(({ run, what: [name, { real, modelled }], draw }) => ({
    say: `${name} of ${idOf(run.meta)} ${JSON.stringify(draw)}`,
    real: async (store) => {
      const key = keyOf(run.meta)
      return (await store.meta(key)) === undefined ? 'no run' : real(store, key, draw)
    },
    modelled: (model) => {
      const there = model.get(idOf(run.meta))
      return there === undefined ? 'no run' : modelled(there, draw)
    },
  }))

const operation = fc.oneof(
  { weight: 2, arbitrary: someRun.map((run) => creation(run)) },
  { weight: 8, arbitrary: appends },
  { weight: 4, arbitrary: beside },
  { weight: 2, arbitrary: reads },
  { weight: 1, arbitrary: lists },
)

function creation(run: NewRun): Operation {
  return {
    say: `create ${idOf(run.meta)}`,
    real: (store) => store.create(run),
    modelled: (model) => create(model, run),
  }
}

function projection(block: number, n: number): BlockProjection {
  const state = n % 2 === 0 ? 'running' : 'retrying'
  return { block, ordinal: n, state, attempt: n, holder: `h${n}`, lease_until: time(n) }
}

function put(run: ModelRun, next: BlockProjection): void {
  const now = run.projections.get(next.block)
  if (now === undefined || next.ordinal > now.ordinal) run.projections.set(next.block, next)
}

function renew(run: ModelRun, block: number, holder: string, lease_until: string): boolean {
  const now = run.projections.get(block)
  if (now?.holder !== holder || now.state !== 'running') return false
  run.projections.set(block, { ...now, lease_until })
  return true
}

function swap(run: ModelRun, if_version: number): boolean {
  if (run.version !== if_version) return false
  run.version += 1
  return true
}

function joinOf(run: ModelRun, key: string) {
  const join = run.joins.get(key) ?? { done: new Set<string>(), tokens: new Set<string>() }
  run.joins.set(key, join)
  return join
}

function signal(run: ModelRun, key: string, source: string): unknown {
  const join = joinOf(run, key)
  join.done.add(source)
  return {
    done: [...join.done].sort(),
    tokens: [...join.tokens].sort(),
    ...(join.need === undefined ? {} : { need: join.need }),
  }
}

function wait(run: ModelRun, key: string, need: number, token: string): string {
  const join = joinOf(run, key)
  if (join.done.size >= need) return 'done'
  join.tokens.add(token)
  join.need = Math.max(need, join.need ?? 0)
  return 'waiting'
}
