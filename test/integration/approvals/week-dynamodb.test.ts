import { weekOnDynamodb } from './week-places.ts'
import { openApprovalsSuite } from './week-suite.ts'

openApprovalsSuite('DynamoDB', weekOnDynamodb, { questions: 200, step_min: 20 })
