import { weekOnDynamodb, weekOnSqlite } from '../integration/approvals/week-places.ts'
import { openApprovalsSuite } from '../integration/approvals/week-suite.ts'

/** What every run of the tests does with 200 questions, with 10,000. */
const SIZE = { questions: 10_000, step_min: 5 }

openApprovalsSuite('SQLite', weekOnSqlite, SIZE)
openApprovalsSuite('DynamoDB', weekOnDynamodb, SIZE)
