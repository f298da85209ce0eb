import { afterAll } from 'vitest'
import { startDynamodbPlaces } from './dynamodb-place.ts'
import { streamSuite } from './stream-suite.ts'

const places = await startDynamodbPlaces()
afterAll(() => places.close())

streamSuite('DynamoDB', places.open)
