import { afterAll } from 'vitest'
import { startDynamodbPlaces } from './dynamodb-place.ts'
import { holdSuite } from './hold-suite.ts'
import { queueSuite } from './queue-suite.ts'

const places = await startDynamodbPlaces()
afterAll(() => places.close())

queueSuite('DynamoDB', places.open)
holdSuite('DynamoDB', places.open)
