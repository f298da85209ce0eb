import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sluice } from '../../e2e/run-cli.ts'
import { openTestPlace, type TestPlace } from '../test-place.ts'

let place: TestPlace
let folder: string

beforeAll(async () => {
  place = await openTestPlace({ listen: true }, { port: 0 })
  folder = mkdtempSync(join(tmpdir(), 'sluice-names-'))
  writeFileSync(join(place.folder, 'nightly.yaml'), 'name: nightly\nblocks: []\n')
})
afterAll(async () => {
  await place.close()
  rmSync(folder, { recursive: true })
})

const start = (...args: readonly string[]) =>
  sluice(['run', 'start', ...args, '--url', place.place.url ?? ''], { cwd: folder })

test('a server says which example was meant, and which there are', async () => {
  const { code, err } = await start('--example', 'basik')
  expect(code).toBe(1)
  expect(err).toContain('there is no example "basik". Did you mean "basic"? There are: ')
  // The examples, not what is deployed here.
  expect(err).toContain('coding')
  expect(err).not.toContain('nightly')
})

test('and which of its documents', async () => {
  expect((await start('nigthly')).err).toContain(
    'there is no DAG "nigthly". Did you mean "nightly"? There are: nightly.',
  )
})

test('of a name that is near to none it only lists them', async () => {
  const { err } = await start('something-else')
  expect(err).toContain('There are: nightly.')
  expect(err).not.toContain('Did you mean')
})
