import { restSuite } from './rest-suite.ts'
import { openOnSqlite } from './sqlite-place.ts'

restSuite('SQLite', openOnSqlite)
