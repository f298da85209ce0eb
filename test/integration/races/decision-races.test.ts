import { afterAll, describe, expect, test } from 'vitest'
import { atMost, firstDaily } from '../../how-much.ts'
import { startDynamodbPlaces } from '../safety/dynamodb-place.ts'
import type { OpenSafe } from '../safety/safety-place.ts'
import { openOnSqlite } from '../safety/sqlite-place.ts'
import { raceDecisions } from './race-decisions.ts'

let dynamodb: Awaited<ReturnType<typeof startDynamodbPlaces>> | undefined
afterAll(() => dynamodb?.close())

/** A thousand on each: npm run test:races. */
const RACES = atMost(20, 5)

describe('ten people decide at the same moment', () => {
  const stores: readonly (readonly [string, OpenSafe])[] = [
    ['SQLite', openOnSqlite],
    [
      'DynamoDB',
      async (...asked) => {
        dynamodb ??= await startDynamodbPlaces()
        return dynamodb.open(...asked)
      },
    ],
  ]
  for (const { tags, rows } of firstDaily(1, stores))
    test.each(rows)(
      'on %s: one decision, one resume, and the others are told',
      { tags, timeout: 60_000 },
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
    )
})
