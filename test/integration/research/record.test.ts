import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { startModel } from './model-server.ts'
import { openResearchPlace } from './research-place.ts'

const open: { close(): Promise<void> | void }[] = []
afterEach(async () => {
  for (const one of open.splice(0)) await one.close()
})

test('a research run is recorded with the calls of its stages, and answered from the recording', async () => {
  const seeds = [{ ref: 'Norway', ref_type: 'name' }]
  const model = await startModel({
    route: { action: 'walk_seeds', args: { seeds } },
    assess: { sufficient: true },
    answer: (nth) => ({ synthesis: nth === 0 ? 'It is "a house that is not there" [1].' : 'It is Oslo [1].' }),
  })
  const first = await openResearchPlace({}, model.settings)
  open.push(model, first)
  const topic = 'What is the capital of Norway?'
  const asked = await first.ask({ topic, budget_tokens: 20_000 })
  const { json } = await first.call('record-run', asked.run_id)
  const { calls, recording } = json as unknown as { calls: number; recording: { calls: { at: string }[] } }
  // Route, assessment, and an answer that was asked for once more.
  expect(recording.calls.map(({ at }) => at)).toEqual(['s1/0/1/0', 's3/0/3/0', 's4/0/4/0', 's4/0/4/1'])
  expect(calls).toBe(model.asked.length)
  const folder = mkdtempSync(join(tmpdir(), 'sluice-record-'))
  open.push({ close: () => rmSync(folder, { recursive: true }) })
  const record = join(folder, 'r.json')
  writeFileSync(record, JSON.stringify(recording))
  const again = await openResearchPlace({}, { ...model.settings, providers: { lm: { type: 'replay', record } } })
  open.push(again)
  const replayed = await again.ask({ topic, budget_tokens: 20_000 })
  expect(replayed.answer.result).toEqual(asked.answer.result)
  expect(model.asked).toHaveLength(calls)
})
