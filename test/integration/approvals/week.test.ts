import { weekOnSqlite } from './week-places.ts'
import { openApprovalsSuite } from './week-suite.ts'

openApprovalsSuite('SQLite', weekOnSqlite, { questions: 200, step_min: 20 })
