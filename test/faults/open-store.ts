import { runStoreOn } from '../../functions/aws/run-store/run-store.ts'
import { spendingOn } from '../../functions/aws/spending.ts'
import { tokensOn } from '../../functions/aws/tokens.ts'
import { triggersOn } from '../../functions/aws/triggers.ts'
import { waitsOn } from '../../functions/aws/waits.ts'
import { createWaker } from '../../infra/local/waker.ts'
import type { RunKey, RunStore } from '../../shared/runs/run-store.ts'
import type { WaitStore } from '../../shared/runs/wait-store.ts'
import type { SpendingLedgers } from '../../shared/spending/ledger.ts'
import type { TriggerStore } from '../../shared/triggers/trigger-store.ts'
import { openEmptied, SIMULATED_ADDRESS, type StoredText, textOf } from './emptied-store.ts'
import { createStaleReads, faultyClient } from './faulty-client.ts'
import { createItemStore, type ItemStore } from './item-store/create-item-store.ts'
import type { Mutant } from './mutant.ts'
import type { SharedPorts } from './sandbox.ts'
import type { Sim } from './sim.ts'
import type { Wire, WireTable } from './wire/open-wire.ts'

/** What the watchers look at after a write: HEADs and block projections by their runs, and the pools of leases. */
export type Part = 'head' | 'projections' | 'leases'

const WRITES =
  /^(create|append|put|settle|move|renew|wait|signal|take|extend|drop|enqueue|dequeue|release|hold|count|link|erase)/

/** What the SQLite store's writes may change, where it is not HEAD alone. */
const PARTS: Readonly<Partial<Record<keyof RunStore, readonly Part[]>>> = {
  append: ['head', 'projections'],
  putProjection: ['projections'],
  renewLease: ['projections'],
  takeLease: ['leases'],
  extendLeases: ['leases'],
  dropLease: ['leases'],
}

/** A run store as sandboxes open it, and as it is behind no fault. */
export type Opened = Pick<
  SharedPorts,
  'openRuns' | 'openTokens' | 'openWaits' | 'openSpending' | 'openTriggers' | 'storeTakesTurns'
> &
  Partial<Pick<SharedPorts, 'waker'>> & {
    readonly raw: RunStore
    readonly rawWaits: WaitStore
    readonly rawSpending: SpendingLedgers
    readonly rawTriggers: TriggerStore
    /** All that is stored; of a table in another process nothing. */
    texts(): readonly StoredText[]
    close(): void
  }

/** Told of each write: what it may change, and of which run; '' where it is of none. */
export type Note = (part: Part, run_id: string) => void

export function openSqlite(sim: Sim, mutant: Mutant | undefined, note: Note): Opened {
  const { store: raw, tokens, waits, spending, triggers, texts, close } = openEmptied(() => sim.scheduler.now())
  const seen = Object.fromEntries(
    Object.entries(raw).map(([name, work]) => {
      const parts = PARTS[name as keyof RunStore] ?? ['head']
      return [name, WRITES.test(name) ? noting(work, parts, note) : work]
    }),
  )
  const store = seen as unknown as RunStore
  const { runs, waker } = createWaker(mutant?.store?.(store) ?? store, sim.scheduler)
  const opened = {
    openRuns: () => runs,
    openTokens: () => tokens,
    openWaits: () => waits,
    openSpending: () => spending,
    openTriggers: () => triggers,
  }
  return {
    ...opened,
    storeTakesTurns: false,
    waker,
    raw,
    rawWaits: waits,
    rawSpending: spending,
    rawTriggers: triggers,
    texts,
    close,
  }
}

function noting(work: (...args: never[]) => unknown, parts: readonly Part[], note: Note) {
  return (...args: never[]) => {
    const [first] = args as readonly unknown[]
    const { run_id, run, meta } = (typeof first === 'object' ? first : {}) as Partial<Record<string, RunKey>> & {
      run_id?: string
    }
    for (const part of parts) note(part, run_id ?? run?.run_id ?? meta?.run_id ?? '')
    return work(...args)
  }
}

/** The real adapter: over items in memory, or over the wire. */
export function openTable(sim: Sim, mutant: Mutant | undefined, written: Note, wire: Wire | undefined): Opened {
  const items = wire === undefined ? tableInMemory() : { ...wire.createTable(), items: () => [] }
  const stale = createStaleReads(() => sim.scheduler.now())
  // Pools here are small: a pool of two is two shards.
  const leases_an_item = 1
  const random = (bytes: number) => Uint8Array.from({ length: bytes }, () => Math.floor(sim.random() * 256))
  const on = (clock: Parameters<SharedPorts['openRuns']>[0]) => {
    const faulty = faultyClient(sim, items.client, stale, written)
    return { client: mutant?.client?.(faulty) ?? faulty, table: items.name, clock, ids: { random }, leases_an_item }
  }
  const openRuns = (clock: Parameters<typeof on>[0]) => {
    const runs = runStoreOn(on(clock))
    return mutant?.store?.(runs) ?? runs
  }
  const openTokens = (clock: Parameters<typeof on>[0]) => tokensOn(on(clock))
  const plain = { now: () => sim.scheduler.now(), delay: async () => undefined }
  // What looks at the store must not draw from the seed.
  const looking = {
    client: items.client,
    table: items.name,
    clock: plain,
    ids: { random: (n: number) => new Uint8Array(n) },
    leases_an_item,
  }
  const raw = runStoreOn(looking)
  const rawWaits = waitsOn(looking, SIMULATED_ADDRESS)
  const openWaits = (clock: Parameters<typeof on>[0]) => waitsOn(on(clock), SIMULATED_ADDRESS)
  const openSpending = (clock: Parameters<typeof on>[0]) => spendingOn(on(clock))
  const rawSpending = spendingOn(looking)
  const openTriggers = (clock: Parameters<typeof on>[0]) => triggersOn(on(clock))
  const rawTriggers = triggersOn(looking)
  const opened = { openRuns, openTokens, openWaits, openSpending, openTriggers }
  const texts = () => items.items().map((item) => ({ of: item.sk?.S ?? '', text: textOf(item) }))
  return { ...opened, storeTakesTurns: true, raw, rawWaits, rawSpending, rawTriggers, texts, close: items.drop }
}

function tableInMemory(): WireTable & Pick<ItemStore, 'items'> {
  return { ...createItemStore(), name: 'runs', drop: () => undefined }
}
