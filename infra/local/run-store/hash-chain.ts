import type { DatabaseSync } from 'node:sqlite'
import { hashAfter } from '../../../shared/runs/hash-chain.ts'
import type { RunKey, RunStore } from '../../../shared/runs/run-store.ts'
import { commitTogether } from '../database.ts'
import { eventReader } from './event-log.ts'
import { query } from './query.ts'

/** Closed in steps of so many events, as the other store closes its pages, and whole when the run ends. */
const SEAL_AT = 8

interface SealRow {
  readonly run: number
  readonly state: string
  readonly seq: number
  readonly sealed_seq: number
  readonly sealed_hash: string
}

/** The closed part of a run's hash chain. */
export function sealsOn(db: DatabaseSync): Pick<RunStore, 'sealed'> {
  const find = query<SealRow>(
    db,
    'SELECT run, state, seq, sealed_seq, sealed_hash FROM runs WHERE tenant = ? AND run_id = ?',
  )
  const seal = sealer(db)
  return {
    async sealed({ tenant, run_id }) {
      const row = find.one(tenant, run_id)
      if (row === undefined) return undefined
      // Ended under a version that closed no chains.
      const open = row.state !== 'running' && row.sealed_seq < row.seq
      const closed = open ? await commitTogether(db, () => seal(row.run, { tenant, run_id }, row.seq)) : undefined
      return closed ?? { seq: row.sealed_seq, hash: row.sealed_hash }
    },
  }
}

/** Closes the chain after an append when it is time; the caller holds the transaction. */
export function chainSealer(db: DatabaseSync): (run: number, key: RunKey, appended: Appended) => void {
  const seal = sealer(db)
  return (run, key, { before, seq, ended }) => {
    if (ended || Math.floor(seq / SEAL_AT) > Math.floor(before / SEAL_AT)) seal(run, key, seq)
  }
}

interface Appended {
  /** seq of the newest event before and after. */
  readonly before: number
  readonly seq: number
  readonly ended: boolean
}

function sealer(db: DatabaseSync) {
  const known = query<{ readonly sealed_seq: number; readonly sealed_hash: string }>(
    db,
    'SELECT sealed_seq, sealed_hash FROM runs WHERE run = ?',
  )
  const move = db.prepare('UPDATE runs SET sealed_seq = ?, sealed_hash = ? WHERE run = ?')
  const read = eventReader(db)
  return (run: number, { run_id }: RunKey, seq: number) => {
    const { sealed_seq = 0, sealed_hash = '' } = known.one(run) ?? {}
    const hash = hashAfter(read(run, run_id, sealed_seq, seq - sealed_seq), sealed_hash)
    move.run(seq, hash, run)
    return { seq, hash }
  }
}
