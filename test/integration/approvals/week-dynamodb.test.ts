import { weekOnDynamodb } from './week-places.ts'
import { openApprovalsSuite, QUESTIONS } from './week-suite.ts'

openApprovalsSuite('DynamoDB', weekOnDynamodb, { questions: QUESTIONS, step_min: 20, tags: ['thorough'] })
