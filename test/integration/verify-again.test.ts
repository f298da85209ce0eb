import { expect, test } from 'vitest'
import type { RunEvent } from '../../shared/runs/event.ts'
import { canonicalJson } from '../../shared/text/json.ts'
import { atMost } from '../how-much.ts'
import { richRun } from './rich-run.ts'

/** Invariant 25: the same document, inputs and answers make the same events on each lane, but for times and ids. */
const RUNS = atMost(10, 3)

/** By lane: across lanes only the order the DAG implies holds. */
function lanesOf(events: readonly RunEvent[]): Readonly<Record<string, readonly string[]>> {
  const lanes = Map.groupBy(events, ({ id }) => id.split('/')[0] ?? '')
  return Object.fromEntries([...lanes].map(([lane, mine]) => [lane, mine.map(withoutTime)]))
}

const TIMES = /^(at|deadline_at|due_at|expires_at|lease_until|holder|waited_ms|latency_ms|duration_ms|run_id|seq)$/

function withoutTime(event: RunEvent): string {
  const text = JSON.stringify(event, (key, value) => (TIMES.test(key) ? undefined : value))
  return canonicalJson(JSON.parse(text.replaceAll(event.run_id.slice('run_'.length), 'RUN')))
}

test('runs of the same document, inputs and answers have the same events, lane by lane', async () => {
  const all: ReturnType<typeof lanesOf>[] = []
  for (let n = 0; n < RUNS; n += 1) {
    const { place, run_id } = await richRun()
    all.push(lanesOf(await place.events(run_id)))
    await place.close()
  }
  const [first] = all
  expect(Object.keys(first ?? {}).length).toBeGreaterThan(8)
  for (const other of all) expect(other).toEqual(first)
})
