import { openOnSqlite } from './sqlite-place.ts'
import { streamSuite } from './stream-suite.ts'

streamSuite('SQLite', openOnSqlite)
