import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDatabase } from '../../infra/local/database.ts'
import { openRunStore } from '../../infra/local/run-store/run-store.ts'
import { damageRow } from './run-store-damage.ts'
import { runStoreSuite } from './run-store-suite.ts'

runStoreSuite('SQLite', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-runs-'))
  let db = openDatabase(folder)
  return {
    store: openRunStore(db),
    damage: (run, damage) => damageRow(db)(run, damage),
    reopen: async () => {
      db.close()
      db = openDatabase(folder)
      return openRunStore(db)
    },
    close: async () => {
      db.close()
      rmSync(folder, { recursive: true })
    },
  }
})
