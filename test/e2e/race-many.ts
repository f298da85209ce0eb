import { raceDecisions } from '../integration/races/race-decisions.ts'
import { startDynamodbPlaces } from '../integration/safety/dynamodb-place.ts'
import { openOnSqlite } from '../integration/safety/sqlite-place.ts'

/** npm run test:races [races]: so many runs on each store, by default 1,000, each decided by ten people at once. */
const RACES = Number(process.argv[2] ?? 1_000)

const say = (line: string) => void process.stdout.write(`${line}\n`)
const dynamodb = await startDynamodbPlaces()
const stores = [
  ['SQLite', openOnSqlite],
  ['DynamoDB', dynamodb.open],
] as const
for (const [store, openSafe] of stores) {
  const began = Date.now()
  const open = await openSafe({ max_runs: 100 })
  const { races, approved, rejected, wrong } = await raceDecisions(open, RACES)
  await open.close()
  for (const line of wrong.slice(0, 20)) say(line)
  const ms = Math.round((Date.now() - began) / races)
  say(
    `${store}: ${races} races, ${approved} approved, ${rejected} rejected, ${wrong.length} wrong, ${ms} ms a race: each has one decision and one resume`,
  )
  if (wrong.length > 0 || races !== RACES) process.exitCode = 1
}
await dynamodb.close()
