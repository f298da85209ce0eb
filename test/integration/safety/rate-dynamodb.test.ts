import { afterAll } from 'vitest'
import { startDynamodbPlaces } from './dynamodb-place.ts'
import { rateSuite } from './rate-suite.ts'

const places = await startDynamodbPlaces()
afterAll(() => places.close())

rateSuite('DynamoDB', places.open)
