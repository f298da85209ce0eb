import { openOnSqlite } from '../safety/sqlite-place.ts'
import { turnsSuite } from './turns-suite.ts'

turnsSuite('SQLite', openOnSqlite)
