import { openDatabase } from '../../infra/local/database.ts'
import { openTriggers } from '../../infra/local/triggers.ts'
import { triggerStoreSuite } from './trigger-store-suite.ts'

triggerStoreSuite('SQLite', async () => {
  const db = openDatabase(':memory:')
  return { triggers: openTriggers(db), close: async () => db.close() }
})
