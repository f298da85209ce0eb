import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { lambdaClock } from '../../functions/aws/core.ts'
import { runStoreOn } from '../../functions/aws/run-store/run-store.ts'
import { openDatabase } from '../../infra/local/database.ts'
import { openRunStore } from '../../infra/local/run-store/run-store.ts'
import type { RunStore } from '../../shared/runs/run-store.ts'
import { requireQuery } from '../../shared/search-runs/query.ts'
import { findRuns } from '../../shared/search-runs/search.ts'
import { ending, keyOf, newRun, time } from '../conformance/run-store-fixture.ts'
import { everyDayEmulator } from '../emulators/dynamodb.ts'

/**
 * `node test/bench/search-runs.ts [runs]`: the first page of searches among so many runs (10,000), on SQLite and on an
 * emulator of DynamoDB over HTTP, whose time is its own and not DynamoDB's: requests and read units are counted beside. The
 * median of nine.
 */
const RUNS = Number(process.argv[2] ?? 10_000)
const PAGE = 50
const TIMES = 9
const NOW = Date.parse(time(RUNS * 1_000 + 3_600_000))

const QUERIES = [
  '',
  'label:team=t7',
  'label:team=t7 state:failed',
  'state:failed',
  'dag:document-3 code:GATE_FAILED',
  'w17 w3',
  'starter:user:ana cost:0',
  'cost:>5',
  'duration:>2h',
  `run_${'0'.repeat(20)}`,
]

async function fill(store: RunStore, at_once: number): Promise<void> {
  for (let from = 1; from <= RUNS; from += at_once) {
    const some = Array.from({ length: Math.min(at_once, RUNS - from + 1) }, (_, i) => from + i)
    await Promise.all(some.map((n) => oneRun(store, n)))
  }
}

/** All but the last twenty have ended, one of ten failed. */
async function oneRun(store: RunStore, n: number): Promise<void> {
  const labels = { team: `t${n % 50}`, stage: n % 3 === 0 ? 'prod' : 'test' }
  const made = newRun(n, { labels, dag_name: `document-${n % 7}`, starter: n % 5 === 0 ? 'user:ana' : 'user:ben' })
  await store.create({ ...made, words: [`w${n % 40}`, `w${n % 13}`, 'invoice'] })
  if (n > RUNS - 20) return
  const data = { code: n % 10 === 0 ? 'GATE_FAILED' : 'all_blocks_completed', reason: 'a reason' }
  const [type, state] = n % 10 === 0 ? (['run:failed', 'failed'] as const) : (['run:completed', 'completed'] as const)
  await store.append(ending(keyOf(made.meta), { at: time(n * 1_000 + 60_000), events: [{ type, data }], state }))
}

/** What one search asked of the table, and the read units that is: one each 4 KB of a query, one each item of a batch. */
interface Asked {
  requests: number
  read_units: number
}

/** Counts in what is sent. The emulator's own time says nothing of DynamoDB's; these do not depend on it. */
function counting(client: DynamoDBClient, asked: Asked): Pick<DynamoDBClient, 'send'> {
  const send = async (command: never, options: never) => {
    const answer = (await client.send(command, options)) as unknown as Answer
    asked.requests += 1
    const batch = Object.values(answer.Responses ?? {}).flat()
    asked.read_units += [...batch, ...(answer.Item === undefined ? [] : [answer.Item])].reduce<number>(
      (sum, item) => sum + unitsOf([item]),
      0,
    )
    if (answer.Items !== undefined) asked.read_units += unitsOf(answer.Items)
    return answer
  }
  return { send: send as unknown as DynamoDBClient['send'] }
}

interface Answer {
  readonly Item?: object
  readonly Items?: readonly object[]
  readonly Responses?: Readonly<Record<string, readonly object[]>>
}

function unitsOf(items: readonly object[]): number {
  return Math.max(1, Math.ceil(JSON.stringify(items).length / 4_096))
}

async function measure(name: string, store: RunStore, asked?: Asked): Promise<void> {
  const rows: object[] = []
  for (const q of QUERIES) rows.push(await measureOne(q, store, asked))
  console.log(`${name}, ${RUNS} runs, the first ${PAGE}`)
  console.table(rows)
}

/** The time is the median; what was asked is that of the first time, when nothing is known yet. */
async function measureOne(q: string, store: RunStore, asked?: Asked): Promise<object> {
  if (asked !== undefined) Object.assign(asked, { requests: 0, read_units: 0 })
  const { found, ms } = await firstPage(q, store)
  const first = asked && { ...asked }
  const times = [ms]
  while (times.length < TIMES) times.push((await firstPage(q, store)).ms)
  return { q, found, ms: Math.round(times.toSorted((a, b) => a - b)[(TIMES - 1) / 2] ?? 0), ...first }
}

/** As the API reads it: the runs whose summaries did not come along, too. */
async function firstPage(q: string, store: RunStore): Promise<{ readonly found: number; readonly ms: number }> {
  const began = performance.now()
  const { found } = await findRuns(store, 'main', requireQuery(q, NOW), { limit: PAGE, now: NOW })
  const unread = found.flatMap(({ summary, facts }) => (summary === undefined ? [facts.run_id] : []))
  if (unread.length > 0) await store.summaries('main', unread)
  return { found: found.length, ms: performance.now() - began }
}

const folder = mkdtempSync(join(tmpdir(), 'sluice-search-'))
const db = openDatabase(folder)
const local = openRunStore(db)
await fill(local, 200)
await measure('SQLite', local)
db.close()
rmSync(folder, { recursive: true })

const emulator = await everyDayEmulator().start()
if (emulator !== undefined) {
  const client = new DynamoDBClient(emulator.aws)
  const table = await emulator.createTable()
  const asked = { requests: 0, read_units: 0 }
  const store = runStoreOn({
    client: counting(client, asked),
    table,
    clock: lambdaClock,
    ids: { random: (n) => randomBytes(n) },
  })
  await fill(store, 20)
  await measure('DynamoDB (emulator)', store, asked)
  client.destroy()
  await emulator.close()
}
