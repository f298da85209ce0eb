import { randomBytes } from 'node:crypto'
import { setImmediate as turn } from 'node:timers/promises'
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { describe, expect, test } from 'vitest'
import { runStoreOn } from '../../functions/aws/run-store/run-store.ts'
import { openDatabase } from '../../infra/local/database.ts'
import { openSpending } from '../../infra/local/spending.ts'
import { Fault } from '../../shared/errors.ts'
import type { Bulk } from '../../shared/runs/bulk.ts'
import { peopleOf, personOf } from '../../shared/runs/people.ts'
import type { RunStore } from '../../shared/runs/run-store.ts'
import { SettingsSchema } from '../../shared/settings/settings.ts'
import type { World } from '../../shared/world.ts'
import { at, ending, keyOf, newRun, pending, question, step, time } from '../conformance/run-store-fixture.ts'
import { createItemStore } from '../faults/item-store/create-item-store.ts'
import type { Mutant } from '../faults/mutant.ts'
import { MUTANTS } from '../faults/mutants/registry.ts'
import { operationOf, type Send, sending } from '../faults/mutants/rewriting.ts'
import { AGENT_PROMISES } from './agent-mutants.ts'
import { ERASURE_PROMISES } from './erasure-mutants.ts'
import { TRIGGER_PROMISES } from './trigger-mutants.ts'
import { TURN_PROMISES } from './turn-mutants.ts'

/** A table, and a run store on it that was opened with a mutant's mistake, or without one. */
interface Place {
  readonly store: RunStore
  readonly mutant: Mutant | undefined
  /** Sort keys of what was written, in order. */
  readonly written: readonly string[]
}

const run = keyOf(newRun(1).meta)

const PAUSED = { by: 'user:ana' }

function paused(store: RunStore): Promise<unknown> {
  const events = [{ type: 'run:paused', data: PAUSED } as const]
  return store.append(step(run, 'pause', 1_010, { events, pause: { ...PAUSED, since: time(1) } }))
}

function resume(more: object) {
  const events = [{ type: 'run:resumed', data: { ...PAUSED, since: time(1), stood_ms: 1 } } as const]
  return step(run, 'pause', 1_090, { events, pause: null, ...more })
}

/** What each mutant breaks, on its own: true as long as nothing is broken. */
const PROMISES: Readonly<Record<string, (place: Place) => Promise<boolean>>> = {
  ...AGENT_PROMISES,
  ...ERASURE_PROMISES,
  ...TRIGGER_PROMISES,
  ...TURN_PROMISES,
  async 'no-lane-guard'({ store }) {
    await store.append(step(run, '0', at(1, 10)))
    return !(await store.append(step(run, '0', at(1, 10)))).ok
  },
  async 'no-terminal-guard'({ store }) {
    await store.append(ending(run))
    return !(await store.append(step(run, '0', at(1, 10)))).ok
  },
  async 'decided-twice'({ store }) {
    await store.append(step(run, 'a0', at(0, 10), { approval: { id: 'p', was: null, set: pending(0) } }))
    const set = { ...pending(0), status: 'approved' } as const
    const decide = () => store.append(step(run, 'a0', at(0, 90), { approval: { id: 'p', was: 'pending', set } }))
    return (await decide()).ok && !(await decide()).ok
  },
  async 'projection-backwards'({ store }) {
    const of = (attempt: number) => ({ block: 0, ordinal: at(attempt, 10), state: 'running', attempt }) as const
    await store.putProjection(run, of(2))
    await store.putProjection(run, of(1))
    return (await store.projections(run))[0]?.attempt === 2
  },
  async 'start-unconditioned'({ store }) {
    await store.append(step(run, '0', at(1, 10)))
    await store.create(newRun(1))
    return (await store.head(run))?.seq === 2
  },
  async 'page-by-first-seq'({ store }) {
    await grow(store, 20)
    return (await store.events(run, 3, 100)).length === 18
  },
  async 'trim-first'({ store, written }) {
    await grow(store, 7)
    const page = written.findIndex((sk) => sk.startsWith('P#'))
    return page !== -1 && written.slice(page + 1).includes('HEAD')
  },
  async 'read-then-put'({ store }) {
    await Promise.all(lanes(8).map((lane) => store.append(step(run, lane, at(1, 10)))))
    return (await store.head(run))?.seq === 9
  },
  async 'pages-first'({ store, mutant }) {
    const events: RunStore['events'] = async (...wanted) => {
      await grow(store, 20)
      return store.events(...wanted)
    }
    const growing = { ...store, events }
    const seen = await (mutant?.store?.(growing) ?? growing).events(run, 0, 100)
    return seen.every(({ seq }, i) => seq === i + 1)
  },
  async 'reader-repeats'({ store }) {
    await grow(store, 3)
    return (await store.events(run, 2, 10))[0]?.seq === 3
  },
  async 'counted-joins'({ store }) {
    await store.signalJoin(run, '1', '0')
    return (await store.signalJoin(run, '1', '0')).done === 1
  },
  async 'lease-kept'({ store }) {
    const pool = { tenant: 'main', name: 'runs' }
    await store.takeLease(pool, 'a', time(1), 1)
    await store.dropLease(pool, 'a')
    return store.takeLease(pool, 'b', time(1), 1)
  },
  async 'pause-counted'({ store }) {
    await paused(store)
    await store.append(resume({ deadline_at: time(99_999) }))
    return (await store.head(run, []))?.deadline_at === time(99_999)
  },
  async 'pause-unseen'({ store, mutant }) {
    await paused(store)
    const world = worldOf({ runs: store }, mutant, 'run-block')
    return (await world.runs.head(run, []))?.paused !== undefined
  },
  async 'resume-lost'({ store }) {
    await paused(store)
    await store.append(resume({ outbox: [{ id: 'pause-1', at: time(2), kind: 'answer_wait', wait: 'pause/1' }] }))
    return (await store.head(run, []))?.outbox.some(({ id }) => id === 'pause-1') === true
  },
  async 'rest-slot-kept'({ store }) {
    const pool = { tenant: 'main', name: 'runs' }
    await store.takeLease(pool, run.run_id, time(1), 1)
    await store.moveRest(run, { was: null, set: { since: time(1) } })
    await store.dropLease(pool, run.run_id, time(1))
    return Object.keys(await store.leases(pool)).length === 0
  },
  async 'rest-ends-slotless'({ store }) {
    const pool = { tenant: 'main', name: 'runs' }
    await store.moveRest(run, { was: null, set: { since: time(1) } })
    const taken = await store.takeLease(pool, run.run_id, time(2), 1)
    return taken && Object.keys(await store.leases(pool)).length === 1
  },
  async 'lease-over-cap'({ store }) {
    const take = (holder: string) => store.takeLease({ tenant: 'main', name: 'runs' }, holder, time(1), 2)
    const taken = await Promise.all(['a', 'b', 'c', 'd'].map(take))
    return taken.filter(Boolean).length === 2
  },
  async 'shard-over-full'({ store }) {
    const take = (holder: string) => store.takeLease({ tenant: 'main', name: 'runs' }, holder, time(1), 60)
    const taken = await Promise.all(Array.from({ length: 70 }, (_, i) => take(`h${i}`)))
    return taken.filter(Boolean).length === 60
  },
  async 'shard-unread'({ store }) {
    const pool = { tenant: 'main', name: 'runs' }
    const holders = Array.from({ length: 60 }, (_, i) => `h${i}`)
    for (const holder of holders) await store.takeLease(pool, holder, time(1), 60)
    return Object.keys(await store.leases(pool)).length === 60
  },
  async 'spend-after-call'({ store }) {
    const reserve = { tokens: 8, usd_micros: 0 }
    const first = await store.append(step(run, '0', at(1, 20), { reserve }))
    const second = await store.append(step(run, '1', at(1, 20), { reserve }))
    return first.ok && !second.ok
  },
  async 'stop-without-outbox'({ store }) {
    const owed = { id: 'stop', at: time(1), kind: 'stop_execution', cause: 'stopped' } as const
    await store.append(ending(run, { outbox: [owed] }))
    return (await store.head(run))?.outbox.some(({ kind }) => kind === 'stop_execution') === true
  },
  async 'check-moved-later'({ store }) {
    await store.append(step(run, '0', at(1, 10), { check_at: time(30_000) }))
    return (await store.head(run))?.check_at === time(30_000)
  },
  async 'items-dispatched-on'({ store }) {
    await store.append(step(run, '5', at(1, 10), { open_items: { block: 5 } }))
    const item_of = { block: 5, below: at(1, 90) }
    await store.append(step(run, '5.0', at(1, 91), { item_of }))
    return !(await store.append(step(run, '5.1', at(1, 10), { item_of: { ...item_of, most_failed: 0 } }))).ok
  },
  async 'late-attempt-taken'({ store }) {
    await store.append(step(run, '0', at(2, 10)))
    return !(await store.append(step(run, '0', at(1, 90)))).ok
  },
  async 'token-before-decision'({ store, mutant }) {
    const answered: string[] = []
    const machine = { answer: async (token: string) => void answered.push(token) }
    const world = worldOf({ runs: store, machine: machine as never }, mutant, 'request-approval')
    await world.runs.putApproval(run, question('apr_1', 0), 'token')
    return answered.length === 0
  },
  async 'note-dropped'({ mutant }) {
    const later = new Fault('Unavailable', 'slack_busy', 'later', { facts: { retry_after_ms: 1_000 } })
    const slack = { call: () => Promise.reject(later) }
    const world = worldOf({ slack: slack as never }, mutant, 'slack-work')
    const told = await world.slack?.call('chat.update', {}).catch((error: unknown) => error)
    return told === later
  },
  async 'vote-counted-twice'({ mutant }) {
    const key = { env: 'SLACK' }
    const users = { U012: 'user:ana' }
    const slack = { team_id: 'T012', channel: 'C012', token: key, signing_secret: key, users }
    const { settings } = worldOf({ settings: SettingsSchema.parse({ slack }) }, mutant, 'slack-work')
    return personOf('slack:U012', peopleOf(settings)) === personOf('user:ana', peopleOf(settings))
  },
  async 'revoked-let-in'({ mutant }) {
    const revoked = { at: time(2), by: 'user:ana' }
    const tokens = { get: async () => ({ revoked }) }
    const world = worldOf({ tokens: tokens as never }, mutant, 'authorize')
    return (await world.tokens.get('t'))?.revoked !== undefined
  },
  async 'decision-inherited'({ mutant }) {
    const dag = { blocks: [{ id: 'deploy', approval: { approvers: ['user:ana'], required: true } }] }
    const objects = { get: async () => Buffer.from(JSON.stringify(dag)) }
    const world = worldOf({ objects: objects as never }, mutant, 'run-block')
    return !Buffer.from(await world.objects.get('main', 'objstore://main/1')).includes('reuse')
  },
  async 'override-unshown'({ store, mutant }) {
    const world = worldOf({ runs: store }, mutant, 'request-approval')
    const changes = { overrides: [{ port: 'plan.goal', value: '"x"' }] }
    await world.runs.putApproval(run, { ...question('apr_1', 0), changes } as never, 'token')
    return (await store.approval(run, 'apr_1'))?.changes !== undefined
  },
  async 'stale-decision'({ store, mutant }) {
    await store.putApproval(run, { ...question('apr_1', 0), binding_ref: `objstore://main/${'a'.repeat(64)}` }, 'token')
    const world = worldOf({ runs: store }, mutant, 'run-block')
    return (await world.runs.approval(run, 'apr_1'))?.binding_ref !== undefined
  },
  async 'child-decision-stale'({ mutant }) {
    const parent = { run_id: 'run_0', block: 'sub', binding_ref: `objstore://main/${'a'.repeat(64)}` }
    const world = worldOf({ runs: { meta: async () => ({ parent }) } as never }, mutant, 'run-block')
    return (await world.runs.meta(run))?.parent?.binding_ref !== undefined
  },
  async 'child-taken-over'({ mutant }) {
    const children = { inner: { hash: 'a'.repeat(64), asks: true, skippable: false } }
    const world = worldOf({ runs: { meta: async () => ({ children }) } as never }, mutant, 'run-block')
    return (await world.runs.meta(run))?.children?.inner !== undefined
  },
  async 'storage-uncounted'({ store, mutant }) {
    const { runs } = worldOf({ runs: store }, mutant, 'run-block')
    await runs.append(step(run, '0', at(1, 10), { stored_bytes: 7 }))
    return (await store.head(run, []))?.stored_bytes === 7
  },
  async 'bulk-done-twice'({ store, mutant }) {
    const world = worldOf({ runs: store }, mutant, 'run-bulk')
    await store.putNote(run, { id: 'note_000ab', at: time(1), by: 'user:ana' })
    return (await world.runs.notes(run))[0]?.id === 'note_000ab'
  },
  async 'bulk-run-skipped'({ store, mutant }) {
    const world = worldOf({ runs: store, clock: { now: () => 0 } as never }, mutant, 'run-bulk')
    await store.putBulk(BULK, [run.run_id])
    await world.runs.bulkRuns(BULK, 0, 10)
    return (await store.bulk(BULK))?.next === 0
  },
  async 'bulk-searches-again'({ store, mutant }) {
    const world = worldOf({ runs: store }, mutant, 'run-bulk')
    await store.putBulk(BULK, [run.run_id])
    return (await world.runs.bulkRuns(BULK, 0, 10)).length === 1
  },
  async 'spending-uncounted'({ mutant }) {
    const db = openDatabase(':memory:')
    const { spending } = worldOf({ spending: openSpending(db, { now: () => 0 }) }, mutant, 'run-block')
    const of = { cap: 'all', period: '2026-11' }
    const call = { id: 'a', amount: { tokens: 9, usd_micros: 0 } }
    await spending.reserve(of, call, {}, 0)
    await spending.settle(of, call, { tokens: 7, usd_micros: 0 })
    const { committed } = await spending.read(of)
    db.close()
    return committed.tokens === 7
  },
  async 'waived-undecided'({ store, mutant }) {
    const set = { ...pending(0), about: 'post_gates' } as const
    await store.append(step(run, 'q0', at(1, 10), { approval: { id: 'p', was: null, set } }))
    const world = worldOf({ runs: store }, mutant, 'run-block')
    return (await world.runs.head(run))?.approvals.p?.status === 'pending'
  },
  async 'callback-used-twice'({ mutant }) {
    const first = { at: time(1), payload: { value: 'first' } } as never
    const waits = { callback: async () => first, keepCallback: async () => first }
    const world = worldOf({ waits: waits as never }, mutant, 'answer-callback')
    return (await world.waits.callback(run, { block: 0, epoch: 0 })) === first
  },
  async 'kept-passed-over'({ mutant }) {
    const waits = { keptEvents: async () => ({ events: [{ id: 'e' }] }) }
    const world = worldOf({ waits: waits as never }, mutant, 'open-wait')
    const topic = { tenant: 'main', name: 'paid' } as never
    return (await world.waits.keptEvents(topic, { limit: 1, now: time(1) })).events.length === 1
  },
  async 'looked-before-registered'({ store, mutant }) {
    const kept: { id: string }[] = []
    const waits = { keptEvents: async () => ({ events: [...kept] }) } as never
    const clock = { now: () => Date.parse(time(1)) } as never
    const world = worldOf({ runs: store, waits, clock }, mutant, 'open-wait')
    const data = { for: 'event', until: time(90_000), name: 'paid', inputs_ref: 'objstore://main/i' }
    const events = [{ type: 'block:waiting', block_id: 'b0', attempt: 1, data }] as never
    await world.runs.append(step(run, '0', at(1, 30), { events }))
    kept.push({ id: 'e' })
    const topic = { tenant: run.tenant, name: 'paid' }
    return (await world.waits.keptEvents(topic, { limit: 1, now: time(2) })).events.length === 1
  },
  async 'lost-once-again'({ store }) {
    const asks = { type: 'block:asked', data: { about: 'lost_step', reason: 'nobody heard of it' } } as const
    const projection = { block: 0, ordinal: at(1, 60), state: 'paused_approval', attempt: 1 } as const
    await store.append(
      step(run, '0', at(1, 60), { events: [{ ...asks, block: 0, block_id: 'b0' }] as never, projection }),
    )
    return (await store.events(run, 1, 1))[0]?.type === 'block:asked'
  },
  'outcome-of-another': ({ store, mutant }) => isReadAsItIs(store, mutant, STEP_OUTCOME),
  'call-of-another': ({ store, mutant }) => isReadAsItIs(store, mutant, CALL_ORDER),
  async 'step-begun-twice'({ store, mutant }) {
    const { runs } = worldOf({ runs: store }, mutant, 'report-step')
    const begins = { events: [{ type: 'step:started', data: { holder: 'x' } }] as never }
    await runs.append(step(run, '0', at(1, 20), begins))
    return !(await runs.append(step(run, '0', at(1, 20), begins))).ok
  },
}

/** Kept of the first attempt of lane 0. */
const KEY = `${run.run_id}/0/0/1/0`
const STEP_OUTCOME = { v: 1, key: KEY, order_ref: 'r', artifacts: [], latency_ms: 1, stored_bytes: 0 }
const CALL_ORDER = {
  v: 1,
  place: { tenant: 'main', run_id: run.run_id, block: 'b0', index: 0, attempt: 1, holder: 'x' },
  opened_at: 1,
  values: {},
  step: {
    ...{ v: 1, name: 'aws', hash: 'h', kind: 'native', inputs: {}, beside: {}, config: {}, feedback: [], key: KEY },
    ...{ attempt: 1, timeout_ms: 1, room_bytes: 1 },
  },
}

const BULK: Bulk = {
  tenant: run.tenant,
  bulk_id: `bulk_${'0'.repeat(25)}`,
  version: 1,
  action: 'label',
  q: 'dag:x',
  by: { kind: 'user', id: 'ana', tenant: run.tenant, scopes: [] },
  planned_at: '2026-11-22T12:00:00.000Z',
  count: 1,
  state: 'running',
  next: 0,
  done: 0,
  refused: 0,
}

/** Whether it is still told as the first attempt's when its lane is at the second. */
async function isReadAsItIs(store: RunStore, mutant: Mutant | undefined, kept: object): Promise<boolean> {
  await store.append(step(run, '0', at(2, 10)))
  const body = Buffer.from(JSON.stringify(kept))
  const world = worldOf({ runs: store, objects: { get: async () => body } as never }, mutant, 'run-block')
  await world.runs.head(run)
  const read = await world.objects.get('main', 'objstore://main/1')
  return Buffer.from(read).equals(body)
}

describe('every mutant breaks what it says', () => {
  test.each(MUTANTS)('$name: $what', async (mutant) => {
    const promise = PROMISES[mutant.name]
    const kept = (place: Place) => Promise.resolve(promise?.(place)).catch(() => false)
    expect(await kept(await openPlace(undefined))).toBe(true)
    expect(await kept(await openPlace(mutant))).toBe(false)
  })

  test('there are no other promises, and every name is told once', () => {
    expect(Object.keys(PROMISES).sort()).toEqual(MUTANTS.map(({ name }) => name).sort())
  })
})

/** One run, created; each request takes a turn, as over a network. */
async function openPlace(mutant: Mutant | undefined): Promise<Place> {
  const written: string[] = []
  const slow = sending((send: Send) => async (command) => {
    await turn()
    const key = (command.input.Key ?? command.input.Item)?.sk?.S
    if (/^(Put|Update)/.test(operationOf(command))) written.push(key ?? '')
    return send(command)
  })(createItemStore().client)
  await storeOn(slow).create({ ...newRun(1), caps: { cap_tokens: 10 } })
  const store = storeOn(mutant?.client?.(slow) ?? slow)
  return { store: mutant?.store?.(store) ?? store, mutant, written }
}

function storeOn(client: Pick<DynamoDBClient, 'send'>): RunStore {
  const clock = { now: () => Date.parse(time(1_000_000)), delay: async () => {} }
  return runStoreOn({ client, table: 'runs', clock, ids: { random: (bytes) => randomBytes(bytes) } })
}

function worldOf(ports: Partial<World>, mutant: Mutant | undefined, name: string): World {
  // Mutants use no other port.
  const world = ports as World
  return mutant?.world?.(world, name) ?? world
}

const lanes = (n: number) => Array.from({ length: n }, (_, i) => String(i))

async function grow(store: RunStore, events: number): Promise<void> {
  for (const lane of lanes(events)) await store.append(step(run, lane, at(1, 10)))
}
