import { holdSuite } from './hold-suite.ts'
import { queueSuite } from './queue-suite.ts'
import { openOnSqlite } from './sqlite-place.ts'

queueSuite('SQLite', openOnSqlite)
holdSuite('SQLite', openOnSqlite)
