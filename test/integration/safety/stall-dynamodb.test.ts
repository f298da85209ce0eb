import { afterAll, beforeAll } from 'vitest'
import { startDynamodbPlaces } from './dynamodb-place.ts'
import { stallSuite } from './stall-suite.ts'

let places: Awaited<ReturnType<typeof startDynamodbPlaces>>
beforeAll(async () => {
  places = await startDynamodbPlaces()
})
afterAll(() => places.close())

stallSuite('DynamoDB', (...asked) => places.open(...asked))
