import { afterAll } from 'vitest'
import { startDynamodbPlaces } from './dynamodb-place.ts'
import { placesSuite } from './places-suite.ts'

const places = await startDynamodbPlaces()
afterAll(() => places.close())

placesSuite('DynamoDB', places.open)
