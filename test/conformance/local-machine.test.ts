import { randomBytes } from 'node:crypto'
import { DatabaseSync } from 'node:sqlite'
import { createLocalMachine } from '../../infra/local/asl/local-machine.ts'
import { createSqliteJournal } from '../../infra/local/asl/sqlite-journal.ts'
import type { OpenMachine } from './machine/machine-fixture.ts'
import { machineSuite } from './machine/machine-suite.ts'
import { createVirtualClock } from './virtual-clock.ts'

const open: OpenMachine = async (functions) => {
  const clock = createVirtualClock()
  const db = new DatabaseSync(':memory:')
  const machine = createLocalMachine({
    invoke: async (name, payload, signal) => functions[name]?.(payload, signal) ?? null,
    clock,
    ids: { random: (bytes) => randomBytes(bytes), boot: 'boot1' },
    journal: createSqliteJournal(db),
    bind: (text) => text.replaceAll(/\$\{(\w+)\}/g, (_match, name: string) => name),
  })
  return {
    machine,
    clock,
    close: async () => {
      const closing = machine.close()
      // A function that ignores its signal is waited for, but not for ever.
      await clock.advance(2_000)
      await closing
      db.close()
    },
  }
}

machineSuite('local machine', open)
