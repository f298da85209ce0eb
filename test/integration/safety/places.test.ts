import { placesSuite } from './places-suite.ts'
import { openOnSqlite } from './sqlite-place.ts'

placesSuite('SQLite', openOnSqlite)
