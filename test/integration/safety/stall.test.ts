import { openOnSqlite } from './sqlite-place.ts'
import { stallSuite } from './stall-suite.ts'

stallSuite('SQLite', openOnSqlite)
