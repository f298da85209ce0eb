import { afterAll } from 'vitest'
import { startDynamodbPlaces } from '../safety/dynamodb-place.ts'
import { turnsSuite } from './turns-suite.ts'

const places = await startDynamodbPlaces()
afterAll(() => places.close())

turnsSuite('DynamoDB', places.open)
