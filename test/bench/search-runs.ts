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
 * emulator of DynamoDB over HTTP, whose time is its own and not DynamoDB's. The median of nine.
 */
const RUNS = Number(process.argv[2] ?? 10_000)
const PAGE = 50
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

async function measure(name: string, store: RunStore): Promise<void> {
  const rows: Record<string, string | number>[] = []
  for (const q of QUERIES) {
    const times: number[] = []
    let found = 0
    for (let i = 0; i < 9; i += 1) {
      const began = performance.now()
      const part = await findRuns(store, 'main', requireQuery(q, NOW), { limit: PAGE, now: NOW })
      const unread = part.found.flatMap(({ summary, facts }) => (summary === undefined ? [facts.run_id] : []))
      if (unread.length > 0) await store.summaries('main', unread)
      times.push(performance.now() - began)
      found = part.found.length
    }
    rows.push({ q, found, ms: Math.round(times.toSorted((a, b) => a - b)[4] ?? 0) })
  }
  console.log(`${name}, ${RUNS} runs, the first ${PAGE}`)
  console.table(rows)
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
  const store = runStoreOn({ client, table, clock: lambdaClock, ids: { random: (n) => randomBytes(n) } })
  await fill(store, 20)
  await measure('DynamoDB (emulator)', store)
  client.destroy()
  await emulator.close()
}
