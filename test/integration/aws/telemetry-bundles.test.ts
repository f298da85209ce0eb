// @module-tag thorough
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readDeployedDags } from '../../../infra/aws/deployed-dags.ts'
import { entrySource } from '../../../infra/aws/entry-source.ts'
import { stageNames } from '../../../infra/aws/names.ts'
import { readStageSettings } from '../../../infra/aws/stage-settings.ts'
import { FUNCTIONS } from '../../../shared/catalog.ts'
import { ROUTES } from '../../../shared/routes.ts'
import { ROOT } from './assembly.ts'
import { A_FEW, bundled } from './bundled.ts'
import { telemetrySettings } from './telemetry-settings.ts'

/** What a collector in the settings costs, and that without one nothing of it is anywhere. */
const settings = readStageSettings(ROOT, { stage: 'dev' })
const parts = { settings, dags: readDeployedDags(join(ROOT, 'dags'), ROOT, settings), names: stageNames('dev') }
const TELLING = FUNCTIONS.filter(({ ports }) => ports.includes('telemetry')).map(({ name }) => name)

for (const { tags, of, only } of [
  { tags: [], of: 'a few functions', only: A_FEW },
  { tags: ['thorough'], of: 'all functions', only: undefined },
]) {
  describe(`bundles of ${of}`, { tags }, () => {
    const LINES = FUNCTIONS.filter(({ name }) => only?.includes(name) ?? true)
    const telling = TELLING.filter((name) => only?.includes(name) ?? true)
    let without = ''
    let withIt = ''
    beforeAll(async () => {
      without = (await bundled(parts, only)).built
      // No header: its client of Secrets Manager is measured by others.
      const telemetry = telemetrySettings({ headers: {} })
      withIt = (await bundled({ ...parts, settings: { ...settings, telemetry } }, only)).built
    }, 240_000)

    const text = (built: string, name: string) => readFileSync(join(built, name, 'index.mjs'), 'utf8')
    const bytes = (built: string, name: string) => statSync(join(built, name, 'index.mjs')).size
    const holding = (built: string) => LINES.filter(({ name }) => text(built, name).includes('resourceSpans'))

    test('hold the way to a collector where the settings name one, in functions that have something to tell', () => {
      expect(holding(without)).toEqual([])
      expect(holding(withIt).map(({ name }) => name)).toEqual(telling)
      expect(telling).toContain('run-block')
      expect(telling).not.toContain('list-runs')
      expect(LINES.map(({ name }) => name)).toContain('list-runs')
    })

    test('grow by less than 17 KB with it', () => {
      const grown = telling.map((name) => bytes(withIt, name) - bytes(without, name))
      process.stdout.write(`telemetry: ${Math.max(...grown)} bytes more at the most\n`)
      expect(Math.max(...grown)).toBeLessThan(17_000)
    })
  })
}

test('a header that is a secret brings the way to secrets to those functions alone', () => {
  const opening = (spans: 'with_key' | 'plain') =>
    FUNCTIONS.filter((line) => /secrets: /.test(entrySource(line, ROUTES, { ssm: true, spans }))).map(
      ({ name }) => name,
    )
  const added = opening('with_key').filter((name) => !opening('plain').includes(name))
  const reading = FUNCTIONS.filter(({ ports }) => ports.includes('secrets')).map(({ name }) => name)
  expect(added).toEqual(TELLING.filter((name) => !reading.includes(name)))
})

describe('settings of a stage', () => {
  const dir = mkdtempSync(join(tmpdir(), 'sluice-stage-'))
  afterAll(() => rmSync(dir, { recursive: true, force: true }))
  const read = (otlp: string) => {
    writeFileSync(join(dir, 'sluice.yaml'), `telemetry: { otlp: ${otlp} }\n`)
    return () => readStageSettings(dir, { stage: 'dev' }).telemetry?.otlp.endpoint
  }

  test('name a collector over https or on the machine of the function, and keep its headers as secrets', () => {
    expect(read('{ endpoint: "http://localhost:4318" }')()).toBe('http://localhost:4318')
    expect(read('{ endpoint: "http://collector:4318" }')).toThrow(/telemetry\.otlp\.endpoint: https, or http on/)
    expect(read('{ endpoint: "https://otlp.example", headers: { x-key: { env: X } } }')).toThrow(
      /telemetry\.otlp\.headers\.x-key: .*add secret: ARN/,
    )
  })

  test.each([
    ['a key where its name belongs', '{ endpoint: "https://a.example", headers: { x-key: canary } }'],
    ['a key in the address', '{ endpoint: "https://a.example/?key=canary" }'],
    ['a user in the address', '{ endpoint: "https://me:canary@a.example" }'],
    ['a header of its own', '{ endpoint: "https://a.example", headers: { content-type: { env: X } } }'],
    ['a name that is none', '{ endpoint: "https://a.example", headers: { "x y": { env: X } } }'],
  ])('refuse %s, and do not tell it again', (_what, otlp) => {
    expect(read(otlp)).toThrow(/telemetry\.otlp\./)
    expect(read(otlp)).not.toThrow(/canary/)
  })
})
