import { openDatabase } from '../../infra/local/database.ts'
import { openSpending } from '../../infra/local/spending.ts'
import { NOW, spendingSuite } from './spending-suite.ts'

spendingSuite('SQLite', async () => {
  const db = openDatabase(':memory:')
  return { spending: openSpending(db, { now: () => NOW }), close: async () => db.close() }
})
