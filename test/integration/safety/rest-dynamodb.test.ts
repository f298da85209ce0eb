import { afterAll } from 'vitest'
import { startDynamodbPlaces } from './dynamodb-place.ts'
import { restSuite } from './rest-suite.ts'

const places = await startDynamodbPlaces()
afterAll(() => places.close())

restSuite('DynamoDB', places.open)
