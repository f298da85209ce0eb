import { afterAll } from 'vitest'
import { startDynamodbPlaces } from './dynamodb-place.ts'
import { stallSuite } from './stall-suite.ts'

const places = await startDynamodbPlaces()
afterAll(() => places.close())

stallSuite('DynamoDB', places.open)
