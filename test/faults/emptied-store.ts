import type { DatabaseSync } from 'node:sqlite'
import { openDatabase } from '../../infra/local/database.ts'
import { forgetRuns } from '../../infra/local/run-store/live-runs.ts'
import { openRunStore } from '../../infra/local/run-store/run-store.ts'
import { removeLeases } from '../../infra/local/run-store/tenant-items.ts'
import { openSpending } from '../../infra/local/spending.ts'
import { openTokens } from '../../infra/local/tokens.ts'
import { openTriggers } from '../../infra/local/triggers.ts'
import { openWaits } from '../../infra/local/waits.ts'
import type { Tokens } from '../../shared/auth/token.ts'
import type { RunStore } from '../../shared/runs/run-store.ts'
import type { WaitStore } from '../../shared/runs/wait-store.ts'
import type { SpendingLedgers } from '../../shared/spending/ledger.ts'
import type { TriggerStore } from '../../shared/triggers/trigger-store.ts'

/** Where the simulated place is reached. */
export const SIMULATED_ADDRESS = 'https://simulated.example'

/** A row of a table, or an item: where it is, and all it says. */
export interface StoredText {
  readonly of: string
  readonly text: string
}

interface Emptied {
  readonly store: RunStore
  readonly tokens: Tokens
  readonly waits: WaitStore
  readonly spending: SpendingLedgers
  readonly triggers: TriggerStore
  /** Every row there is. */
  texts(): readonly StoredText[]
  close(): void
}

/** Databases of seeds that are over: to make one takes as long as a twentieth of a seed, to empty it next to nothing. */
const left: Made[] = []

interface Made {
  readonly db: DatabaseSync
  readonly store: RunStore
  readonly tokens: Tokens
  readonly waits: WaitStore
  readonly spending: SpendingLedgers
  readonly triggers: TriggerStore
  /** Of the seed it serves. */
  readonly clock: { now: () => number }
  readonly tables: readonly string[]
}

/** A run store in memory that nothing was ever written to, as far as one can see. */
export function openEmptied(now: () => number): Emptied {
  const made = left.pop() ?? make()
  made.clock.now = now
  return {
    // Whoever keeps something for a store keeps it for this seed.
    store: { ...made.store },
    tokens: { ...made.tokens },
    waits: { ...made.waits },
    spending: { ...made.spending },
    triggers: { ...made.triggers },
    texts: () => rowsOf(made),
    close() {
      removeLeases(made.db, made.tables.map((table) => `DELETE FROM ${table}`).join(';'))
      forgetRuns(made.db)
      left.push(made)
    },
  }
}

function rowsOf({ db, tables }: Made): readonly StoredText[] {
  return tables.flatMap((of) => {
    const rows = db.prepare(`SELECT * FROM ${of}`).all()
    return rows.map((row) => ({ of, text: textOf(row) }))
  })
}

/** As JSON; bytes as letters. */
export function textOf(value: unknown): string {
  return JSON.stringify(value, (_, one) => {
    if (typeof one === 'bigint') return String(one)
    return one instanceof Uint8Array ? Buffer.from(one).toString('latin1') : one
  })
}

function make(): Made {
  const db = openDatabase(':memory:')
  const store = openRunStore(db)
  const clock = { now: Date.now }
  const tokens = openTokens(db, { now: () => clock.now() })
  // What addresses are signed with must not differ from one run of a seed to the next.
  const random = (bytes: number) => new Uint8Array(bytes).fill(7)
  const waits = openWaits(db, { now: () => clock.now() }, { url: SIMULATED_ADDRESS }, random)
  const spending = openSpending(db, { now: () => clock.now() })
  const triggers = openTriggers(db)
  const tables = db.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all()
  return { db, store, tokens, waits, spending, triggers, clock, tables: tables.map(({ name }) => String(name)) }
}
