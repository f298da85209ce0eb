import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ModelServer, startModel } from '../integration/research/model-server.ts'
import { type Started, sluice, startSluice } from './run-cli.ts'

const id = (type: string, name: string) => `acme.ops.geo.atlas.${type}.${name}`
const said = { source: 'test', timestamp: '2026-01-01T00:00:00Z' }

/** A country that borders others and has a capital. */
function country(code: string, label: string, capital: string, borders: readonly string[]) {
  const subject = id('country', code)
  const triple = (predicate: string, object: string) => ({ subject, predicate, object, ...said })
  return [
    {
      entity_id: subject,
      label,
      snippet: `${label} is a country with the capital ${capital}. Its oldest town is a harbour.`,
      triples: [
        triple('geo.country.capital', id('city', capital.toLowerCase())),
        ...borders.map((other) => triple('geo.country.borders', id('country', other))),
      ],
    },
    { entity_id: id('city', capital.toLowerCase()), label: capital, snippet: `${capital} is a city.` },
  ]
}

const ATLAS = [
  ...country('pt', 'Portugal', 'Lisbon', ['es']),
  ...country('fr', 'France', 'Paris', ['es', 'de']),
  ...country('es', 'Spain', 'Madrid', ['pt', 'fr']),
  ...country('de', 'Germany', 'Berlin', ['fr']),
]

let folder = ''
let place: Started
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-ask-'))
  writeFileSync(join(folder, 'atlas.ndjson'), ATLAS.map((line) => JSON.stringify(line)).join('\n'))
  place = await startSluice(['start', '--port', '0', '--json'], folder)
  expect((await cli('graph', 'import', 'atlas.ndjson')).code).toBe(0)
})
afterAll(async () => {
  await place.stop('SIGTERM')
  rmSync(folder, { recursive: true, force: true })
})

const cli = (...args: string[]) => sluice([...args, '--url', String(place.first.url)], { cwd: folder })

describe('sluice research ask', () => {
  test('prints the answer, what it cites, and each sentence held against the store', async () => {
    const topic = 'What is the capital of the country that borders France and Portugal?'
    const { code, out, err } = await cli('research', 'ask', topic, '--trace')
    expect({ code, err }).toEqual({ code: 0, err: '' })
    const [answer = '', evidence = '', checked = '', cost = '', trace = ''] = out.split('\n\n')
    expect(answer).toMatch(
      /^ {2}Spain, borders: (France, Portugal|Portugal, France) \[\d+\]\.\n {2}Spain, capital: Madrid \[\d+\]\./,
    )
    expect(evidence).toMatch(
      /^Evidence: \d+ items, 1 cited\n {2}\[\d+\] Spain \(tier 0, \w+\)\n {6}acme\.ops\.geo\.atlas\.country\.es$/,
    )
    expect(checked).toMatch(
      /^Compared with what is stored: 2 of 2 sentences quoted, 0 supported, 0\s+unsupported\n {2}✓ Spain, borders/,
    )
    expect(checked).toMatch(
      /✓ Spain, capital: Madrid \[\d+\]\.\n {6}quoted\n {6}word for word in \[\d+\], bytes \d+ to \d+$/m,
    )
    expect(cost).toMatch(/^\d+ tokens, .*, 0 refine rounds, \d.*\nRun run_\w{26}$/)
    expect(trace).toMatch(/^Trace\n {2}nl_classify [\s\S]* {2}route_search .*walk_seeds\n[\s\S]*predicate_walk: /)
    expect(Math.max(...out.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80)
  })

  test('--json has the whole answer and what was checked; research show has it later', async () => {
    const { out } = await cli(
      'research',
      'ask',
      'What is the oldest town of Germany?',
      '--json',
      '--hint',
      'entity_kind=country',
    )
    const answer = JSON.parse(out)
    expect(answer).toMatchObject({
      state: 'completed',
      intent: { hints: { entity_kind: 'country' }, budget_tokens: 4000, max_iterations: 5 },
      checked: { sentences: [{ grounded: true, status: 'quoted' }], cited: [{ label: 'Germany' }] },
    })
    expect(answer.result.synthesis).toContain('“Its oldest town is a harbour.”')
    const shown = await cli('research', 'show', answer.run_id)
    expect(shown.out).toMatch(
      /✓ “Its oldest town is a harbour\.” \[\d+\]\n {6}quoted\n {6}word for word in \[\d+\], bytes 46 to 75/,
    )
  })

  test('what the graph does not say has an honest no answer, within the rounds and tokens allowed', async () => {
    const topic = 'Who is the president of Germany?'
    const { code, out } = await cli('research', 'ask', topic, '--iterations', '1', '--budget', '9000')
    expect(code).toBe(0)
    expect(out).toMatch(/^ {2}No answer found in the graph for: Who is the president of Germany\?\n/)
    expect(out).toMatch(/^Evidence: \d+ items, none cited\.$/m)
    expect(out).toMatch(/ 1 refine round, /)
  })

  test.each([
    ['no question', ['research', 'ask'], 2, /question/],
    ['a hint without a value', ['research', 'ask', 'x', '--hint', 'recency'], 2, /key=value/],
    ['no rounds', ['research', 'ask', 'x', '--iterations', '0'], 2, /1 to 50/],
    ['a blank question', ['research', 'ask', ' '], 1, /\[/],
    ['a run that is none', ['research', 'show', 'run_00000000000000000000000000'], 1, /unknown_run/],
  ])('%s is refused', async (_, args, code, words) => {
    const done = await cli(...args)
    expect({ code: done.code, out: done.out }).toEqual({ code, out: '' })
    expect(done.err).toMatch(words)
  })
})

test('without a server it runs the place itself, on the data that is there', { tags: ['thorough'] }, async ({
  skip,
}) => {
  const cwd = mkdtempSync(join(folder, 'inside-'))
  const there = await fetch('http://127.0.0.1:4040/api/health').then(
    () => true,
    () => false,
  )
  if (there) skip('a server of this machine answers on port 4040')
  const asked = await sluice(['research', 'ask', 'What is the capital of Spain?'], { cwd })
  expect(asked.code).toBe(0)
  expect(asked.out).toMatch(/^ {2}No answer found in the graph for: What is the capital of Spain\?/)
})

describe('sluice research ask --keep-unsupported', { tags: ['thorough'] }, () => {
  const said = 'Germany is a country with the capital Berlin [1]. Germany is not a country [1]. It is old.'
  let asked = ''
  let model: ModelServer
  let own: Started
  const ask = (...args: string[]) => sluice([...args, '--url', String(own.first.url)], { cwd: asked })
  beforeAll(async () => {
    asked = mkdtempSync(join(folder, 'kept-'))
    model = await startModel({ route: { action: 'synthesize_directly' }, answer: { synthesis: said } })
    writeFileSync(join(asked, 'sluice.yaml'), JSON.stringify(model.settings))
    writeFileSync(join(asked, 'atlas.ndjson'), ATLAS.map((line) => JSON.stringify(line)).join('\n'))
    own = await startSluice(['start', '--port', '0', '--json'], asked)
    expect((await ask('graph', 'import', 'atlas.ndjson')).code).toBe(0)
  })
  afterAll(async () => {
    await own.stop('SIGTERM')
    await model.close()
  })
  const QUESTION = ['research', 'ask', 'Germany', '--budget', '50000', '--hint', 'entity_kind=country']

  test('marks what is unsupported, says why, and ends with exit code 4, later too', async () => {
    const { code, out } = await ask(...QUESTION, '--keep-unsupported')
    expect(code).toBe(4)
    expect(out.replace(/\s+/g, ' ')).toContain('(unsupported) Germany is not a country [1]. (unsupported) It is old.')
    expect(out).toMatch(/1 of 3 sentences quoted, 0 supported, 2\s+unsupported/)
    expect(out).toMatch(/✗ \(unsupported\) Germany is not a country \[1\]\./)
    expect(out).toMatch(/✗ \(unsupported\) It is old\.\n {6}cites nothing/)
    const run = /^Run (run_\w{26})$/m.exec(out)?.[1] ?? ''
    expect((await ask('research', 'show', run, '--json')).code).toBe(4)
  })

  test('without it they are left out, and the exit code is 0', async () => {
    const { code, out } = await ask(...QUESTION)
    expect(code).toBe(0)
    expect(out).not.toMatch(/not a country|old\.|✗/)
  })
})
