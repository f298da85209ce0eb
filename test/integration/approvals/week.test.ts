import { weekOnSqlite } from './week-places.ts'
import { openApprovalsSuite, QUESTIONS } from './week-suite.ts'

openApprovalsSuite('SQLite', weekOnSqlite, { questions: QUESTIONS, step_min: 20, tags: [] })
