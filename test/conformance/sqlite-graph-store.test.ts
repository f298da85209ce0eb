import { openDatabase } from '../../infra/local/database.ts'
import { openGraphStore } from '../../infra/local/graph-store/graph-store.ts'
import { AT } from './graph-fixture.ts'
import { graphStoreSuite } from './graph-store-suite.ts'

graphStoreSuite('SQLite', async () => {
  const db = openDatabase(':memory:')
  return { store: openGraphStore(db, { now: () => Date.parse(AT) }), runs: 60, close: async () => db.close() }
})
