import { afterAll } from 'vitest'
import { startDynamodbPlaces } from './dynamodb-place.ts'
import { storageSuite } from './storage-suite.ts'

const places = await startDynamodbPlaces()
afterAll(() => places.close())

storageSuite('DynamoDB', places.open)
