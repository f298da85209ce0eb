import { openOnSqlite } from './sqlite-place.ts'
import { storageSuite } from './storage-suite.ts'

storageSuite('SQLite', openOnSqlite)
