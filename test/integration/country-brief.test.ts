import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openPlace, type Place } from '../../infra/local/place.ts'
import { atlasEntities } from '../../scripts/atlas/atlas-entities.ts'
import { readSources } from '../../scripts/atlas/sources.ts'
import { parseDag } from '../../shared/document/parse.ts'
import { readEntity } from '../../shared/graph/entity.ts'
import { BATCH } from '../../shared/graph/graph-store.ts'
import type { RunEvent } from '../../shared/runs/event.ts'
import { SettingsSchema } from '../../shared/settings/settings.ts'
import { firstDaily } from '../how-much.ts'

/** dags/country-brief.yaml on the countries of the world, as `npm run demo:research` imports them. */
const DOCUMENT = readFileSync(join(import.meta.dirname, '../../dags/country-brief.yaml'), 'utf8')
const dir = mkdtempSync(join(tmpdir(), 'sluice-brief-'))
let place: Place

beforeAll(async () => {
  const settings = SettingsSchema.parse({ port: 0, data_dir: join(dir, 'data'), dags: [], inputs_dir: dir })
  place = await openPlace(settings, { listen: true })
  const entities = atlasEntities(readSources()).flatMap(({ body: _, ...line }) => {
    const read = readEntity(line)
    return 'entity' in read ? [read.entity] : []
  })
  for (let at = 0; at < entities.length; at += BATCH) {
    await place.world.graph.put('main', entities.slice(at, at + BATCH))
  }
})

afterAll(async () => {
  await place.close()
  rmSync(dir, { recursive: true, force: true })
})

async function call(path: string, body: unknown) {
  const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
  return JSON.parse(await (await fetch(`${place.url}${path}`, init)).text())
}

/** Runs a document to its end, approving what it asks. */
async function runToEnd(dag: string, country: string) {
  const { run_id } = await call('/api/dag/run', { dag, inputs: { country } })
  const run = { tenant: 'main', run_id }
  for (;;) {
    const events: readonly RunEvent[] = await place.world.runs.events(run, 0, 500)
    if (events.some(({ type }) => /^run:(completed|failed|cancelled)$/.test(type))) return { run, events }
    for (const { id, digest } of await place.world.runs.approvals(run)) {
      await call(`/api/dag/runs/${run_id}/approvals`, { approval_id: id, decision: 'approve', digest })
    }
    await setTimeout(20)
  }
}

const failed = (events: readonly RunEvent[]) =>
  events.flatMap((event) =>
    event.type === 'block:gate' && event.data.status !== 'passed' ? [`${event.block_id} ${event.data.gate}`] : [],
  )

test('country-brief is a DAG without errors', () => {
  const parsed = parseDag(DOCUMENT, { name: 'country-brief', providers: ['local'] })
  expect(parsed.ok ? [] : parsed.errors).toEqual([])
})

describe('country-brief', () => {
  test('ends in a brief whose every line stands in the graph', async () => {
    const { run, events } = await runToEnd(DOCUMENT, 'Bhutan')
    expect(events.at(-1)).toMatchObject({ type: 'run:completed' })
    expect(failed(events)).toEqual([])
    const [artifact] = await place.world.runs.artifacts(run)
    expect(artifact?.name).toBe('country-brief.md')
    const brief = Buffer.from(await place.world.objects.get('main', artifact?.ref ?? '')).toString('utf8')
    const lines = brief.split('\n').map((line) => line.replace(/ \[\d+\]\.$/, ''))
    // As the package's file has them.
    for (const line of [
      '- Bhutan, capital: Thimphu',
      '- Bhutan, area km2: 38394',
      '- Bhutan, currency: Bhutanese ngultrum, Indian rupee',
      '- China, capital: Beijing',
      '- India, capital: New Delhi',
    ]) {
      expect(lines).toContain(line)
    }
    const cited = new Set([...brief.matchAll(/\[(\d+)\]\.$/gm)].map(([, n]) => n))
    const listed = [...brief.matchAll(/^- \[(\d+)\] `(\S+)`$/gm)].map(([, n, id]) => ({ n, id }))
    expect(new Set(listed.map(({ n }) => n))).toEqual(cited)
    expect(listed.map(({ id }) => id)).toEqual(
      ['btn', 'chn', 'ind'].map((code) => `open.data.geo.atlas.country.${code}`),
    )
    expect(brief).toContain('ODbL-1.0')
    expect(brief).not.toMatch(/undefined|null|Note:|\{\{/)
  })

  for (const { tags, rows } of firstDaily<[string, string, string]>(2, [
    ['a changed quotation', '- China, capital: Shanghai [1].', 'verify quotations-stand-in-the-evidence'],
    [
      'a number nobody said',
      '- Bhutan has 77 valleys between its mountains [1].',
      'verify numbers-stand-in-the-evidence',
    ],
    ['a sentence without a source', '- Bhutan is a kingdom in the mountains.', 'verify every-sentence-cites'],
    ['a source that is not there', '- Bhutan is a kingdom in the mountains [900].', 'verify every-citation-exists'],
  ])) {
    test.each(rows)('a draft with %s never reaches a person', { tags }, async (_, line, gate) => {
      const tampered = DOCUMENT.replace(
        '          {{inputs.neighbours}}\n',
        `          {{inputs.neighbours}}\n          ${line}\n`,
      )
      expect(tampered).not.toBe(DOCUMENT)
      const { events } = await runToEnd(tampered, 'Bhutan')
      expect(failed(events)).toContain(gate)
      expect(events.at(-1)).toMatchObject({ type: 'run:failed', data: { block_id: 'verify' } })
      expect(events.some(({ type }) => type === 'approval:requested')).toBe(false)
    })
  }

  test('a country the graph does not know ends at the question, with what to do', async () => {
    const { events } = await runToEnd(DOCUMENT, 'Atlantis')
    expect(failed(events)).toContain('facts has-an-answer')
    expect(events.at(-1)?.type).toBe('run:failed')
    expect(JSON.stringify(events)).toContain('npm run demo:research')
  })
})
