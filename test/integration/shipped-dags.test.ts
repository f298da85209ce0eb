import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openPlace, type Place } from '../../infra/local/place.ts'
import { parseDag } from '../../shared/document/parse.ts'
import type { RunEvent } from '../../shared/runs/event.ts'
import { SettingsSchema } from '../../shared/settings/settings.ts'

const dagsDir = join(import.meta.dirname, '../../dags')
const dir = mkdtempSync(join(tmpdir(), 'sluice-shipped-'))
let place: Place

beforeAll(async () => {
  const countries = dirname(createRequire(import.meta.url).resolve('world-countries/package.json'))
  const inputs_dir = join(dir, 'inputs')
  mkdirSync(inputs_dir)
  copyFileSync(join(countries, 'countries.json'), join(inputs_dir, 'countries.json'))
  const settings = SettingsSchema.parse({ port: 0, data_dir: join(dir, 'data'), dags: [dagsDir], inputs_dir })
  place = await openPlace(settings, { listen: true })
})

afterAll(async () => {
  await place.close()
  rmSync(dir, { recursive: true, force: true })
})

async function call(method: 'GET' | 'POST', path: string, body?: unknown) {
  const init = { method, headers: { 'content-type': 'application/json' } }
  const response = await fetch(
    `${place.url}${path}`,
    body === undefined ? init : { ...init, body: JSON.stringify(body) },
  )
  return JSON.parse(await response.text())
}

/** Runs a shipped DAG to its end, approving whatever it asks. */
async function runToEnd(name: string, given: object = {}) {
  const { run_id } = await call('POST', '/api/dag/run', { name, ...given })
  const run = { tenant: 'main', run_id }
  for (;;) {
    const events: readonly RunEvent[] = await place.world.runs.events(run, 0, 500)
    if (events.some(({ type }) => /^run:(completed|failed|cancelled)$/.test(type))) return { run, events }
    for (const { id, digest } of await place.world.runs.approvals(run)) {
      await call('POST', `/api/dag/runs/${run_id}/approvals`, { approval_id: id, decision: 'approve', digest })
    }
    await setTimeout(20)
  }
}

const gates = (events: readonly RunEvent[], block: string) =>
  events.flatMap((event) =>
    event.type === 'block:gate' && event.block_id === block
      ? [`${event.attempt} ${event.data.gate}: ${event.data.status}`]
      : [],
  )

test.each(['basic', 'coding', 'country-brief', 'dataset-brief'])('%s is a DAG without errors', (name) => {
  const parsed = parseDag(readFileSync(join(dagsDir, `${name}.yaml`), 'utf8'), { name, providers: ['local'] })
  expect(parsed.ok ? [] : parsed.errors).toEqual([])
})

describe('dataset-brief', () => {
  test('ends in a brief whose licence gate failed first and held after feedback', { tags: ['thorough'] }, async () => {
    const { run, events } = await runToEnd('dataset-brief')
    expect(events.at(-1)?.type).toBe('run:completed')
    expect(gates(events, 'draft').filter((line) => !line.includes('passed'))).toEqual([
      '1 names-source-and-licence: failed',
    ])
    const [artifact] = await place.world.runs.artifacts(run)
    expect(artifact).toMatchObject({ name: 'dataset-brief.md', media_type: 'text/markdown; charset=utf-8' })
    const brief = Buffer.from(await place.world.objects.get('main', artifact?.ref ?? '')).toString('utf8')
    for (const table of brief.matchAll(/(?:^\|.*\n)+/gm)) {
      const cells = table[0]
        .trim()
        .split('\n')
        .map((row) => row.split('|').length)
      expect(new Set(cells).size, table[0]).toBe(1)
    }
    expect(brief).not.toMatch(/undefined|null|NaN|\{\{|do not mention/)
    // Counted by hand from the package's file, not by our code.
    const countries: Country[] = JSON.parse(readFileSync(join(dir, 'inputs', 'countries.json'), 'utf8'))
    const states = countries.filter(({ independent }) => independent)
    const closed = states.filter(({ landlocked }) => landlocked).length
    const mean = states.reduce((sum, { borders }) => sum + borders.length, 0) / states.length
    expect(brief).toContain(
      `${closed} of the ${states.length} states (${Math.round((100 * closed) / states.length)} %) have no coast`,
    )
    expect(brief).toContain(`A state has ${mean.toFixed(1)} land neighbours on average (95 % CI 2.9 to 3.6)`)
    expect(brief).toContain('Russia, Canada, China, United States and Brazil alone hold 41 % of the total')
    expect(brief).toContain('Enclosed twice, with neighbours that all lack a coast too: Liechtenstein and Uzbekistan.')
    expect(brief).toMatch(/Data: world-countries .*Open Database License \(ODbL-1\.0\)[^\n]*\n*$/)
  })

  test('names as many of the largest states as it is asked for', { tags: ['thorough'] }, async () => {
    const { run } = await runToEnd('dataset-brief', { inputs: { top: 2 } })
    const [artifact] = await place.world.runs.artifacts(run)
    const brief = Buffer.from(await place.world.objects.get('main', artifact?.ref ?? '')).toString('utf8')
    expect(brief).toContain('Russia and Canada alone hold 20 % of the total')
  })

  test('refuses to say what its numbers no longer show', { tags: ['thorough'] }, async () => {
    const { events } = await runToEnd('dataset-brief', { inputs: { top: 0 } })
    expect(events.at(-1)).toMatchObject({ type: 'run:failed', data: { block_id: 'figures' } })
    expect(gates(events, 'figures')).toContain('1 every-figure-is-written: failed')
  })
})

test('coding runs to its end through its gates', async () => {
  const { events } = await runToEnd('coding')
  expect(events.at(-1)?.type).toBe('run:completed')
  expect(gates(events, 'review')).toEqual(['1 structured-feedback: passed', '1 patch-is-tested: passed'])
})

test('basic runs to its end with a goal', async () => {
  const { events } = await runToEnd('basic', { context: { goal: 'Add dark mode' } })
  expect(events.at(-1)?.type).toBe('run:completed')
})

interface Country {
  readonly independent: boolean
  readonly landlocked: boolean
  readonly borders: readonly string[]
}
