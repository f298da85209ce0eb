import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startEmbedder } from '../emulators/embedding-server.ts'
import type { ProviderServer } from '../emulators/provider-server.ts'
import { type Started, sluice, startSluice } from './run-cli.ts'

const idOf = (name: string) => `acme.ops.zoo.atlas.animal.${name}`
const ANIMALS = ['quokka', 'numbat', 'bilby', 'dingo', 'emu']
/** The model puts what swims first, whatever is asked. */
const meaning = (text: string) => (/swims/.test(text) ? [1, 0] : [0.5, 0.5])

let folder = ''
let server: ProviderServer
let place: Started
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-graph-eval-'))
  server = await startEmbedder(meaning)
  const settings = {
    providers: { near: { type: 'openai-compatible', url: server.url } },
    research: { embeddings: { provider: 'near', model: 'e-1' } },
  }
  writeFileSync(join(folder, 'sluice.yaml'), JSON.stringify(settings))
  place = await startSluice(['start', '--port', '0', '--json'], folder)
  const lines = ANIMALS.map((name, at) => {
    const snippet = `An animal of the plains that ${at === 4 ? 'swims' : 'runs'} by night.`
    return JSON.stringify({ entity_id: idOf(name), label: `Record ${at}`, snippet })
  })
  writeFileSync(join(folder, 'zoo.ndjson'), lines.join('\n'))
})
afterAll(async () => {
  await place.stop('SIGTERM')
  await server.close()
  rmSync(folder, { recursive: true, force: true })
})

const cli = (...args: readonly string[]) => sluice([...args, '--url', String(place.first.url)], { cwd: folder })

test('graph eval measures what embeddings should count, says what to set, and sets nothing', async () => {
  expect((await cli('graph', 'import', 'zoo.ndjson')).code).toBe(0)
  const asked = ['Which animal of the plains is there?', 'What animals live by night?'].map((question) =>
    JSON.stringify({ question, relevant: ['emu'] }),
  )
  writeFileSync(join(folder, 'asked.ndjson'), asked.join('\n'))
  const plain = await cli('graph', 'eval', 'asked.ndjson')
  expect(plain.out).toContain('Embeddings are set and not in these rankings: --answers measures them.')
  expect(server.asked).toEqual([])
  const measured = await cli('graph', 'eval', 'asked.ndjson', '--answers', '--budget', '20000')
  expect(measured).toMatchObject({ code: 0, err: '' })
  const rows = measured.out.split('\n').flatMap((line) => /^(words.*?|evidence.*?) {2,}\d/.exec(line)?.[1] ?? [])
  const weights = ['0.1', '0.25', '0.5', '1'].map((weight) => `evidence, embeddings ${weight}`)
  expect(rows).toEqual(['words', 'words and links', 'evidence, embeddings 0.25', 'evidence', ...weights])
  expect(measured.out).toContain('Weight 0.25 stays: 2 questions are too few to choose by: at least 20 are needed.')
  expect(server.asked.length).toBeGreaterThan(0)
})
