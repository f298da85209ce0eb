import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Amount } from '../../shared/runs/budget.ts'
import type { Caps } from '../../shared/runs/caps.ts'
import type { RunEvent } from '../../shared/runs/event.ts'
import { hashAfter } from '../../shared/runs/hash-chain.ts'
import {
  earlierTime,
  type Head,
  type HeadApproval,
  type HeadModule,
  type OutboxEntry,
  type RunState,
} from '../../shared/runs/head.ts'
import { byLane, type LaneOwner, laneKey, laneOwner } from '../../shared/runs/lane.ts'
import type {
  Append,
  Appended,
  ApprovalChange,
  LaneGuard,
  NewRun,
  RunKey,
  RunStore,
} from '../../shared/runs/run-store.ts'
import type { BlockProjection, CachedResult } from '../../shared/runs/run-store-items.ts'
import { atMost } from '../how-much.ts'
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
      { numRuns: atMost(200, 25) },
    )
  })
}

interface ModelRun {
  readonly run: NewRun
  state: RunState
  readonly events: RunEvent[]
  readonly lanes: Map<string, number>
  readonly running: Set<string>
  /** Foreach blocks whose items have lanes. */
  readonly open: Set<number>
  readonly modules: Map<string, HeadModule>
  readonly children: Map<string, string>
  readonly parent_tokens: Set<string>
  readonly approvals: Map<string, HeadApproval>
  readonly outbox: Map<string, OutboxEntry>
  readonly projections: Map<string, BlockProjection>
  readonly joins: Map<string, { readonly done: Set<string>; tokens: Set<string>; need?: number }>
  check_at: string | undefined
  version: number
  caps: Caps
  committed: Amount
  spent: Amount
  /** Bytes of bodies. */
  stored: number
  readonly stops: Set<number | undefined>
  /** What foreach blocks have committed for their items. */
  readonly shares: Map<number, Amount>
  /** Items that failed for good, by block. */
  readonly failed: Map<number, number>
}

interface Model extends Map<string, ModelRun> {
  readonly cached: Map<string, CachedResult>
}

interface Operation {
  readonly say: string
  real(store: RunStore): Promise<unknown>
  modelled(model: Model): unknown
}

const createModel = (): Model => Object.assign(new Map<string, ModelRun>(), { cached: new Map() })
const idOf = ({ tenant, run_id }: RunKey) => `${tenant}/${run_id}`

function create(model: Model, run: NewRun): unknown {
  const there = model.get(idOf(run.meta))
  if (there !== undefined) {
    if (run.parent_token !== undefined) there.parent_tokens.add(run.parent_token)
    return { created: false, meta: there.run.meta }
  }
  const { check_at } = run
  const made: ModelRun = {
    run,
    state: 'running',
    events: [],
    lanes: new Map([['run', 10]]),
    running: new Set(),
    open: new Set(),
    modules: new Map(),
    children: new Map(),
    parent_tokens: new Set(run.parent_token === undefined ? [] : [run.parent_token]),
    approvals: new Map(),
    outbox: new Map(run.outbox.map((entry) => [entry.id, entry])),
    projections: new Map(),
    joins: new Map(),
    check_at,
    version: 0,
    caps: run.caps ?? {},
    stored: run.stored_bytes ?? 0,
    committed: NOTHING,
    spent: NOTHING,
    stops: new Set(),
    shares: new Map(),
    failed: new Map(),
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

function refused(run: ModelRun, append: Append): string | undefined {
  const { lane, guard, item_of, start } = append
  if (run.state !== 'running') return 'terminal'
  if (!admits(guard, run.lanes.get(lane) ?? null) || !isOpen(run, item_of)) return 'already'
  if ((append.while ?? []).some(({ lane, is }) => (run.lanes.get(lane) ?? null) !== is)) return 'already'
  if (hasTooManyFailed(run, item_of)) return 'items_failed'
  if (questionsOf(append).some(({ id, was }) => !isSame(run.approvals.get(id), was))) return 'approval'
  if (start !== undefined && start.limit > 0 && run.running.size >= start.limit) return 'full'
  return refusedByLedger(run, append)
}

function questionsOf({ approval, further_approvals = [] }: Append): readonly ApprovalChange[] {
  return approval === undefined ? further_approvals : [approval, ...further_approvals]
}

function hasTooManyFailed({ failed }: ModelRun, item_of: Append['item_of']): boolean {
  return item_of?.most_failed !== undefined && (failed.get(item_of.block) ?? 0) > item_of.most_failed
}

function isSame(now: HeadApproval | undefined, was: ApprovalChange['was']): boolean {
  const read = typeof was === 'object' ? [now ?? null, was] : [now?.status, was]
  return JSON.stringify(read[0]) === JSON.stringify(read[1])
}

function refusedByLedger(run: ModelRun, { reserve, share }: Append): string | undefined {
  if (reserve === undefined) return undefined
  if (isOver(run.caps, run.committed, reserve)) return 'budget'
  return share !== undefined && isOver(share, sharedOf(run, share), reserve) ? 'share' : undefined
}

const sharedOf = ({ shares }: ModelRun, { block }: { readonly block: number }) => shares.get(block) ?? NOTHING

function isOver(caps: NewRun['caps'] = {}, committed: Amount, { tokens, usd_micros }: Amount): boolean {
  const { cap_tokens, cap_usd_micros } = caps
  if (cap_tokens !== undefined && committed.tokens + tokens > cap_tokens) return true
  return cap_usd_micros !== undefined && committed.usd_micros + usd_micros > cap_usd_micros
}

function admits(guard: LaneGuard, now: number | null): boolean {
  return 'is' in guard ? now === guard.is : now === null || now < guard.below
}

function isOpen({ open, lanes }: ModelRun, item_of: Append['item_of']): boolean {
  if (item_of === undefined) return true
  const lane = open.has(item_of.block) ? lanes.get(String(item_of.block)) : undefined
  return lane !== undefined && lane < item_of.below
}

function append(model: Model, append: Append): Appended {
  const run = model.get(idOf(append.run))
  if (run === undefined) return { ok: false, because: 'unknown_run' }
  const because = refused(run, append)
  if (because !== undefined) return { ok: false, because } as Appended
  push(run, append)
  run.lanes.set(append.lane, append.ordinal)
  if (append.start !== undefined) run.running.add(laneKey(append.start))
  if (append.end !== undefined) stopRunning(run, append.end)
  moveItems(run, append)
  moveLedger(run, append)
  if (append.module !== undefined) run.modules.set(append.module.key, append.module.set)
  if (append.child !== undefined) run.children.set(append.child.lane, append.child.run_id)
  for (const { id, set } of questionsOf(append)) run.approvals.set(id, set)
  for (const entry of append.outbox ?? []) run.outbox.set(entry.id, entry)
  if (append.projection !== undefined) put(run, append.projection)
  run.state = append.state ?? run.state
  if (append.check_at !== undefined) run.check_at = earlierTime(run.check_at, append.check_at)
  return { ok: true, seq: run.events.length }
}

function stopRunning({ running }: ModelRun, { block, item, items = 0 }: NonNullable<Append['end']>): void {
  running.delete(item === undefined ? `${block}` : `${block}.${item}`)
  for (const lane of [...running]) {
    const [of, n] = lane.split('.').map(Number)
    if (of !== block || n === undefined) continue
    if (typeof items === 'number' ? n < items : items.includes(n)) running.delete(lane)
  }
}

function raised({ cap_tokens, cap_usd_micros }: Caps, { tokens = 0, usd_micros = 0 }: Append['raise'] = {}): Caps {
  return {
    ...(cap_tokens === undefined ? {} : { cap_tokens: Math.max(cap_tokens, tokens) }),
    ...(cap_usd_micros === undefined ? {} : { cap_usd_micros: Math.max(cap_usd_micros, usd_micros) }),
  }
}

function moveLedger(
  run: ModelRun,
  { reserve = NOTHING, settle, share, drop_items, raise, stored_bytes = 0 }: Append,
): void {
  const { reserved, spent } = settle ?? { reserved: NOTHING, spent: NOTHING }
  const move = plus(plus(reserve, spent), reserved, -1)
  run.committed = plus(run.committed, move)
  run.spent = plus(run.spent, spent)
  run.caps = raised(run.caps, raise)
  run.stored += stored_bytes
  if (share !== undefined) run.shares.set(share.block, plus(sharedOf(run, share), move))
  if (drop_items !== undefined) run.shares.delete(drop_items.block)
}

function plus(a: Amount, b: Amount, times = 1): Amount {
  return { tokens: a.tokens + times * b.tokens, usd_micros: a.usd_micros + times * b.usd_micros }
}

const NOTHING: Amount = { tokens: 0, usd_micros: 0 }

function moveItems(run: ModelRun, { item_of, ordinal, open_items, drop_items }: Append): void {
  if (item_of !== undefined && ordinal % 100 === 91) {
    run.failed.set(item_of.block, (run.failed.get(item_of.block) ?? 0) + 1)
  }
  const whole = open_items ?? drop_items
  if (whole === undefined) return
  for (const lane of [...run.lanes.keys()]) if (lane.startsWith(`${whole.block}.`)) run.lanes.delete(lane)
  run.failed.delete(whole.block)
  if (open_items === undefined) run.open.delete(whole.block)
  else run.open.add(whole.block)
}

function head(run: ModelRun | undefined, lanes: readonly string[] | undefined): Head | undefined {
  if (run === undefined) return undefined
  const shown = [...run.lanes].filter(([lane]) => lanes === undefined || lanes.includes(lane))
  return {
    state: run.state,
    seq: run.events.length,
    lanes: Object.fromEntries(shown),
    running: [...run.running].sort(byLane),
    approvals: Object.fromEntries(run.approvals),
    modules: Object.fromEntries(run.modules),
    children: Object.fromEntries(run.children),
    deadline_at: run.run.deadline_at,
    ...(run.check_at === undefined ? {} : { check_at: run.check_at }),
    outbox: [...run.outbox.values()].sort((a, b) => (`${a.at}${a.id}` < `${b.at}${b.id}` ? -1 : 1)),
    budget: {
      ...run.caps,
      committed_tokens: run.committed.tokens,
      committed_usd_micros: run.committed.usd_micros,
      spent_tokens: run.spent.tokens,
      spent_usd_micros: run.spent.usd_micros,
      unpriced_tokens: 0,
    },
    stored_bytes: run.stored,
    ...endedOf(run),
  }
}

function endedOf({ events }: ModelRun): Pick<Head, 'ended'> {
  const last = events.at(-1)
  return last?.type === 'run:cancelled'
    ? { ended: { at: last.at, code: last.data.code, reason: last.data.reason } }
    : {}
}

function list(model: Model, tenant: string, state: RunState | undefined): readonly string[] {
  return [...model.values()]
    .filter(({ run, state: now }) => run.meta.tenant === tenant && (state === undefined || now === state))
    .map(({ run }) => run.meta)
    .sort((a, b) => (`${a.created_at}${a.run_id}` > `${b.created_at}${b.run_id}` ? -1 : 1))
    .map(({ run_id }) => run_id)
}

const keys: readonly NewRun[] = [
  newRun(1),
  { ...newRun(2), caps: { cap_tokens: 12 } },
  { ...newRun(2, { tenant: 'other' }), caps: { cap_tokens: 9, cap_usd_micros: 7 } },
]
const someRun = fc.constantFrom(...keys)
const someLane = fc.constantFrom('0', '1', '10', 'a1', 'run', '1.0', '1.3', '10.0', '10.12')
const someOrdinal = fc.constantFrom(10, 20, 90, 91, 1_010, 1_090, 1_091)
const someBlock = fc.constantFrom(0, 1, 10, 11)
const someOwner: fc.Arbitrary<LaneOwner> = fc.oneof(
  someBlock.map((block) => ({ block })),
  fc.record({ block: someBlock, item: fc.constantFrom(0, 3, 12) }),
)

const someGuard = (ordinal: number): fc.Arbitrary<LaneGuard> =>
  fc.oneof(
    fc.constant({ below: ordinal }),
    fc.constantFrom(...[10, 20, 90, 1_010].filter((n) => n < ordinal), null).map((is) => ({ is })),
  )

const someAmount: fc.Arbitrary<Amount> = fc.record({ tokens: fc.nat(6), usd_micros: fc.nat(4) })

const toldTimes = (told: number): HeadApproval => ({ ...pending(1), ...(told === 0 ? {} : { told }) })

const someChange: fc.Arbitrary<Partial<Append>> = fc.oneof(
  fc.constant({}),
  fc.record({ owner: someOwner, limit: fc.constantFrom(0, 1, 2) }).map(({ owner, limit }) => ({
    start: { ...owner, limit },
  })),
  someOwner.map((end) => ({ end })),
  fc.record({ block: someBlock, items: fc.constantFrom(1, 4, 13, [], [3], [0, 12]) }).map((end) => ({ end })),
  fc.record({ ids: fc.constantFrom(['p'], ['q', 'p']), seen: fc.nat(2) }).map(({ ids, seen }) => ({
    further_approvals: ids.map((id) => ({ id, was: toldTimes(seen), set: toldTimes(seen + 1) })),
  })),
  fc.record({ owner: someOwner, n: fc.nat(4) }).map(({ owner, n }) => ({ projection: projection(owner, n) })),
  fc.nat(3).map((n) => ({ module: { key: '0', set: { epoch: n, rules: { '1.0': { count: n, epoch: n } } } } })),
  fc.record({ lane: fc.constantFrom('0', '1.3'), n: fc.nat(3) }).map(({ lane, n }) => ({
    child: { lane, run_id: `run_child${n}` },
  })),
  fc.record({ id: fc.constantFrom('p', 'q'), was: fc.constantFrom('pending' as const, null) }).map(({ id, was }) => ({
    approval: { id, was, set: was === null ? pending(1) : { ...pending(1), status: 'approved' as const } },
  })),
  fc.record({ id: fc.constantFrom('p', 'q'), seen: fc.nat(2), told: fc.integer({ min: 1, max: 3 }) }).map((one) => ({
    approval: { id: one.id, was: toldTimes(one.seen), set: toldTimes(one.told) },
  })),
  fc.record({ id: fc.constantFrom('start', 'stop', 'x'), ms: fc.nat(3) }).map(({ id, ms }) => ({
    outbox: [{ id, at: time(ms), kind: 'stop_execution' as const, cause: `c${ms}` }],
    check_at: time(ms),
  })),
  someAmount.map((reserve) => ({ reserve })),
  fc.nat(9).map((stored_bytes) => ({ stored_bytes })),
  fc
    .record({ reserve: someAmount, block: someBlock, cap_tokens: fc.nat(9) })
    .map(({ reserve, ...share }) => ({ reserve, share })),
  fc.record({ reserved: someAmount, spent: someAmount }).map((settle) => ({ settle })),
  fc
    .record({ tokens: fc.nat(30), usd_micros: fc.nat(20), settle: fc.option(someAmount, { nil: undefined }) })
    .map(({ settle, ...raise }) => ({
      raise,
      ...(settle === undefined ? {} : { settle: { reserved: NOTHING, spent: settle } }),
    })),
  fc
    .array(fc.record({ lane: fc.constantFrom('0', '1', '1.3'), is: fc.constantFrom(null, 10, 20, 1_010) }), {
      minLength: 1,
      maxLength: 2,
    })
    .map((stands) => ({ while: stands })),
)

/** What an append on this lane says of items: an item's must, a block's may open or drop them. */
function someItems(lane: string): fc.Arbitrary<Partial<Append>> {
  const { block, item } = laneOwner(lane) ?? {}
  if (block === undefined) return fc.constant({})
  if (item !== undefined) {
    const [below, most] = [fc.constantFrom(90, 1_090, 2_000), fc.constantFrom(undefined, undefined, 0, 1)]
    return fc.tuple(below, most).map(([end, most_failed]) => ({
      item_of: { block, below: end, ...(most_failed === undefined ? {} : { most_failed }) },
    }))
  }
  return fc.oneof(
    { weight: 4, arbitrary: fc.constant({}) },
    { weight: 4, arbitrary: fc.constant({ open_items: { block } }) },
    { weight: 1, arbitrary: fc.constant({ drop_items: { block } }) },
  )
}

/** One in thirty ends the run: most sequences are about live ones. */
const someState = fc.oneof({ weight: 29, arbitrary: fc.constant({}) }, fc.constant({ state: 'failed' as const }))

const appends: fc.Arbitrary<Operation> = fc
  .record({ run: someRun, lane: someLane, ordinal: someOrdinal, events: fc.integer({ min: 1, max: 3 }) })
  .chain(({ run, lane, ordinal, events }) =>
    fc
      .record({ guard: someGuard(ordinal), change: someChange, state: someState, items: someItems(lane) })
      .map((made_of) => {
        const { guard, change, state, items } = made_of
        const made = Array.from({ length: events }, (_, i) => ready(`b${i}`))
        const whole = step(keyOf(run.meta), lane, ordinal, { guard, events: made, ...change, ...state, ...items })
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
      await Promise.all([1, 10].map((block) => store.itemProjections(key, block))),
      await store.parentTokens(key),
      await sealHolds(store, key),
    ],
    modelled: (model) => {
      const there = model.get(idOf(key))
      const all = [...(there?.projections.values() ?? [])].sort((a, b) => byLane(laneKey(a), laneKey(b)))
      const itemsOf = (block: number) => all.filter((one) => one.block === block && one.item !== undefined)
      return [
        head(there, lanes),
        there?.events.slice(since, since + limit) ?? [],
        all.filter(({ item }) => item === undefined),
        [1, 10].map(itemsOf),
        [...(there?.parent_tokens ?? [])].sort(),
        there === undefined ? undefined : { hash: 'of its events', whole: there.state !== 'running' },
      ]
    },
  }
}

/** How far the chain is closed differs from store to store; that it is closed over what the log says does not. */
async function sealHolds(store: RunStore, key: RunKey): Promise<unknown> {
  const [sealed, head] = [await store.sealed(key), await store.head(key, [])]
  if (sealed === undefined || head === undefined) return undefined
  const hash = hashAfter(await store.events(key, 0, sealed.seq)) === sealed.hash ? 'of its events' : sealed
  return { hash, whole: head.state !== 'running' && sealed.seq === head.seq }
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
  readonly owner: LaneOwner
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
    real: (store, key, { owner, n }) => store.putProjection(key, projection(owner, n)),
    modelled: (run, { owner, n }) => put(run, projection(owner, n)),
  },
  renewLease: {
    real: (store, key, { owner, n }) => store.renewLease(key, owner, `h${n}`, time(n)),
    modelled: (run, { owner, n }) => renew(run, owner, `h${n}`, time(n)),
  },
  signalJoin: {
    real: (store, key, { owner, source }) => store.signalJoin(key, String(owner.block), source),
    modelled: (run, { owner, source }) => signal(run, String(owner.block), source),
  },
  waitJoin: {
    real: (store, key, { owner, n }) => store.waitJoin(key, String(owner.block), { need: n, token: `t${n}` }),
    modelled: (run, { owner, n }) => wait(run, String(owner.block), n, `t${n}`),
  },
  putContext: {
    real: (store, key, { n }) => store.putContext(key, { version: n + 1, values: { n } }, n),
    modelled: (run, { n }) => swap(run, n),
  },
  putStop: {
    real: (store, key, { owner, n }) => store.putStop(key, n === 0 ? undefined : owner.block),
    modelled: (run, { owner, n }) => void run.stops.add(n === 0 ? undefined : owner.block),
  },
  stopped: {
    real: async (store, key, { owner }) => [await store.stopped(key), await store.stopped(key, owner.block)],
    modelled: ({ stops }, { owner }) => [stops.has(undefined), stops.has(undefined) || stops.has(owner.block)],
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
    draw: fc.record({ owner: someOwner, n: fc.nat(4), source: fc.constantFrom('a', 'b', 'c') }),
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

const keeps: fc.Arbitrary<Operation> = fc
  .record({ tenant: fc.constantFrom('main', 'other'), hash: fc.constantFrom('h', 'i'), n: fc.nat(3) })
  .map(({ tenant, hash, n }) => ({
    say: `keep ${tenant} ${hash} ${n}`,
    real: async (store) => {
      await store.putCached(tenant, hash, 'in', cachedResult(n))
      return [await store.cached(tenant, hash, 'in'), await store.cached(tenant, 'i', 'in')]
    },
    modelled: ({ cached }) => {
      const key = `${tenant}/${hash}`
      const there = cached.get(key)
      if (there === undefined || there.at < time(n)) cached.set(key, cachedResult(n))
      return [cached.get(key), cached.get(`${tenant}/i`)]
    },
  }))

const output: CachedResult['output'] = {
  outputs: { text: { ref: `objstore://main/${'a'.repeat(64)}`, sha256: 'a'.repeat(64), bytes: 3 } },
  provider: 'local',
  model: 'outline',
  params_hash: 'p',
  prompt_hash: 'q',
  tokens_in: 800,
  tokens_out: 300,
  latency_ms: 12.5,
  finish_reason: 'stop',
}

export function cachedResult(n: number): CachedResult {
  return { run_id: `run_${n}`, block_id: 'b', at: time(n), output }
}

const someToken = fc.constantFrom(undefined, 'p1', 'p2')

const operation = fc.oneof(
  { weight: 2, arbitrary: fc.record({ run: someRun, token: someToken }).map(({ run, token }) => creation(run, token)) },
  { weight: 8, arbitrary: appends },
  { weight: 4, arbitrary: beside },
  { weight: 2, arbitrary: reads },
  { weight: 1, arbitrary: lists },
  { weight: 1, arbitrary: keeps },
)

function creation(made: NewRun, parent_token: string | undefined): Operation {
  const run = parent_token === undefined ? made : { ...made, parent_token }
  return {
    say: `create ${idOf(run.meta)} ${parent_token}`,
    real: (store) => store.create(run),
    modelled: (model) => create(model, run),
  }
}

function projection(owner: LaneOwner, n: number): BlockProjection {
  const state = n % 2 === 0 ? 'running' : 'retrying'
  return { ...owner, ordinal: n, state, attempt: n, holder: `h${n}`, lease_until: time(n) }
}

function put(run: ModelRun, next: BlockProjection): void {
  const now = run.projections.get(laneKey(next))
  if (now === undefined || next.ordinal > now.ordinal) run.projections.set(laneKey(next), next)
}

function renew(run: ModelRun, owner: LaneOwner, holder: string, lease_until: string): boolean {
  const now = run.projections.get(laneKey(owner))
  if (now?.holder !== holder || now.state !== 'running') return false
  run.projections.set(laneKey(owner), { ...now, lease_until })
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
    done: join.done.size,
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
