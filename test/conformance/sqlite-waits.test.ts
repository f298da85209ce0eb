import { openDatabase } from '../../infra/local/database.ts'
import { openWaits } from '../../infra/local/waits.ts'
import { NOW, waitStoreSuite } from './wait-store-suite.ts'

waitStoreSuite('SQLite', async () => {
  const db = openDatabase(':memory:')
  return { waits: openWaits(db, { now: () => NOW }, {}), close: async () => db.close() }
})
