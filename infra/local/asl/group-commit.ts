import type { DatabaseSync } from 'node:sqlite'
import { transaction } from '../transaction.ts'
import type { FramePlace, FrameSlot, Journal, JournalledExecution } from './journal.ts'

type Write = () => void

interface Writers {
  put(slot: FrameSlot): void
  events(execution: JournalledExecution): void
}

export interface GroupCommit {
  later(write: Write): void
  /** Places of one slot that fall into one commit are written once, the newest. */
  put(slot: FrameSlot, place: FramePlace): void
  /** Commits now. Throws a Fault when the database refuses; nothing is lost then. */
  commit(): void
  readonly durable: Journal['durable']
}

/** Writes of one turn of the event loop in one commit. Refused ones stay and are tried with the next. */
export function createGroupCommit(db: DatabaseSync, writers: Writers): GroupCommit {
  let writes: Write[] = []
  let moved = new Set<JournalledExecution>()
  let batch = 1
  let scheduled = false
  let waiting: PromiseWithResolvers<void> | undefined

  const commit = (): void => {
    if (writes.length === 0) return
    transaction(db, () => {
      for (const write of writes) write()
      for (const execution of moved) writers.events(execution)
    })
    writes = []
    moved = new Set()
    batch += 1
    waiting?.resolve()
    waiting = undefined
  }
  const turn = (): void => {
    scheduled = false
    try {
      commit()
    } catch (error) {
      waiting?.reject(error)
      waiting = undefined
    }
  }
  const later = (write?: Write): void => {
    if (write !== undefined) writes.push(write)
    if (!scheduled) setImmediate(turn)
    scheduled = true
  }
  const put = (slot: FrameSlot, place: FramePlace): void => {
    slot.place = place
    if (slot.batch === batch) return
    slot.batch = batch
    moved.add(slot.execution)
    later(() => writers.put(slot))
  }
  const durable = (): Promise<void> => {
    if (writes.length === 0) return Promise.resolve()
    later()
    waiting ??= Promise.withResolvers()
    return waiting.promise
  }
  return { later, put, commit, durable }
}
