import { afterAll, describe, expect, test } from 'vitest'
import { atMost } from '../../how-much.ts'
import { startDynamodbPlaces } from '../safety/dynamodb-place.ts'
import { openOnSqlite } from '../safety/sqlite-place.ts'
import { raceDecisions } from './race-decisions.ts'

const dynamodb = await startDynamodbPlaces()
afterAll(() => dynamodb.close())

/** A thousand on each: npm run test:races. */
const RACES = atMost(20, 5)

describe('ten people decide at the same moment', () => {
  test.each([
    ['SQLite', openOnSqlite],
    ['DynamoDB', dynamodb.open],
  ])(
    'on %s: one decision, one resume, and the others are told',
    async (_store, openSafe) => {
      const open = await openSafe({ max_runs: 100 })
      try {
        const { races, approved, rejected, wrong } = await raceDecisions(open, RACES)
        expect(wrong).toEqual([])
        expect([races, approved + rejected]).toEqual([RACES, RACES])
      } finally {
        await open.close()
      }
    },
    60_000,
  )
})
