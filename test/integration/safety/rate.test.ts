import { rateSuite } from './rate-suite.ts'
import { openOnSqlite } from './sqlite-place.ts'

rateSuite('SQLite', openOnSqlite)
