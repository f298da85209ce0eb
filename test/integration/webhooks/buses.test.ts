import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ASKING, BRIEF, owed, placeWith } from './webhook-place.ts'

/** The buses of a local place: files. */
const INPUTS = { inputs: { text: 'a text nobody else has' } }
const BUSES = [
  { name: 'all', events: 'all' },
  { name: 'ends', bus: 'arn:aws:events:eu-central-1:111122223333:event-bus/company', events: ['run:completed'] },
]

const fileOf = ({ place }: Awaited<ReturnType<typeof placeWith>>, name: string) =>
  join(place.world.settings.data_dir, 'buses', `${name}.jsonl`)

function linesOf(file: string): readonly Record<string, unknown>[] {
  const text = readFileSync(file, 'utf8')
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
}

test('every event of a run is a line of its file, in order, as a rule of EventBridge hands it on', async () => {
  const place = await placeWith([], {}, { buses: BUSES })
  const run_id = await place.start(BRIEF, INPUTS)
  const events = await place.ended(run_id)
  await expect.poll(() => owed(place, run_id)).toEqual([])
  const lines = linesOf(fileOf(place, 'all'))
  expect(lines.map(({ id }) => id)).toEqual(events.map(({ seq }) => `${run_id}-${seq}-all`))
  const last = events.at(-1)
  expect(lines.at(-1)).toEqual({
    version: '0',
    id: `${run_id}-${last?.seq}-all`,
    'detail-type': 'run:completed',
    source: 'sluice.local',
    account: '',
    time: last?.at,
    region: 'local',
    resources: [],
    detail: expect.objectContaining({ id: `${run_id}-${last?.seq}-all`, run_id, seq: last?.seq, data: last?.data }),
  })
  expect(linesOf(fileOf(place, 'ends')).map((line) => line['detail-type'])).toEqual(['run:completed'])
  expect(readFileSync(fileOf(place, 'all'), 'utf8')).not.toContain('a text nobody else has')
  expect(statSync(fileOf(place, 'all')).mode & 0o777).toBe(0o600)
})

test('a question is told while it waits for its answer, and a test is of no run', async () => {
  const place = await placeWith([], {}, { buses: [{ name: 'asks', events: ['approval:requested'] }] })
  const run_id = await place.start(ASKING, INPUTS)
  await place.until(run_id, ({ type }) => type === 'approval:requested')
  await expect.poll(() => existsSync(fileOf(place, 'asks'))).toBe(true)
  const { json } = await place.call('test-webhook', run_id, { name: 'asks' })
  expect(json).toMatchObject({ endpoint: 'asks', delivered: true })
  expect(linesOf(fileOf(place, 'asks')).map((line) => line['detail-type'])).toEqual([
    'approval:requested',
    'webhook:test',
  ])
})
