import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { jsonLines, type Started, sluice, startSluice } from './run-cli.ts'

const id = (type: string, name: string) => `acme.ops.geo.atlas.${type}.${name}`
const NORWAY = id('country', 'no')
const OSLO = id('city', 'oslo')
const SWEDEN = id('country', 'se')

const said = { source: 'test', timestamp: '2026-01-01T00:00:00Z' }
const CAPITAL = { subject: NORWAY, predicate: 'geo.country.capital', object: OSLO, ...said }
const BORDER = { subject: SWEDEN, predicate: 'geo.country.borders', object: NORWAY, ...said }

const LINES: readonly unknown[] = [
  { entity_id: NORWAY, label: 'Norway', aliases: ['Norge'], snippet: 'Norway is a country.', triples: [CAPITAL] },
  { entity_id: OSLO, label: 'Oslo', body: 'The harbour of Oslo freezes rarely. Ferries leave for Nesodden.' },
  { entity_id: SWEDEN, label: 'Sweden\u001b[31m' },
  BORDER,
]

let folder = ''
let place: Started
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-graph-'))
  place = await startSluice(['start', '--port', '0', '--json'], folder)
})
afterAll(async () => {
  await place.stop('SIGTERM')
  rmSync(folder, { recursive: true, force: true })
})

const cli = (args: readonly string[], stdin = '') =>
  sluice([...args, '--url', String(place.first.url)], { cwd: folder, stdin })

function file(name: string, lines: readonly unknown[]): string {
  const text = lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line)))
  writeFileSync(join(folder, name), `${text.join('\n')}\n`)
  return name
}

describe('sluice graph', () => {
  test('import puts entities, bodies and triples, and again changes nothing', async () => {
    const first = await cli(['graph', 'import', file('atlas.ndjson', LINES)])
    expect(first).toEqual({ code: 0, err: '', out: '4 lines imported (3 created, 1 updated), 0 refused.\n' })
    const again = await cli(['graph', 'import', 'atlas.ndjson', '--json'])
    // An entity is put whole, so without the triple a line of its own adds again.
    expect(JSON.parse(again.out)).toEqual({ refused: 0, errors: [], outcomes: { unchanged: 2, updated: 2 } })
    const whole = file('whole.ndjson', LINES.slice(0, 2))
    expect((await cli(['graph', 'import', whole])).out).toBe('2 lines imported (2 unchanged), 0 refused.\n')
    const stdin = `${JSON.stringify(LINES[0])}\n`
    expect((await cli(['graph', 'import', '-'], stdin)).out).toBe('1 line imported (1 unchanged), 0 refused.\n')
  })

  test('a body over the limit of a request is stored all the same', async () => {
    const body = `${'The ferry leaves at noon. '.repeat(50_000)}Quokkas watch it go.`
    expect(Buffer.byteLength(body)).toBeGreaterThan(1_048_576)
    const quay = { entity_id: id('place', 'quay'), label: 'Quay', body }
    const first = await cli(['graph', 'import', file('large.ndjson', [quay])])
    expect(first).toEqual({ code: 0, err: '', out: '1 line imported (1 created), 0 refused.\n' })
    expect((await cli(['graph', 'show', id('place', 'quay')])).out).toMatch(/^body: objstore:\/\/main\/[0-9a-f]{64}$/m)
    expect((await cli(['graph', 'import', 'large.ndjson'])).out).toContain('(1 unchanged)')
  })

  test('a bad line is told with its number and stops no other; exit code 1', async () => {
    const name = file('bad.ndjson', [{ entity_id: 'norway' }, '', 'no json', { label: 'x' }, LINES[0]])
    const told = await cli(['graph', 'import', name])
    expect(told.code).toBe(1)
    expect(told.out).toBe('1 line imported (1 unchanged), 3 refused.\n')
    expect(told.err).toMatch(/^line 1 \(norway\): .*\(arity\).*\[bad_entity\]$/m)
    expect(told.err).toMatch(/^line 3: .*it is no JSON object\. \[malformed_line\]$/m)
    expect(told.err).toMatch(/^line 4: .*it has neither\. \[malformed_line\]$/m)
    const rest = await cli(['graph', 'import', name, '--from-line', '5', '--json'])
    expect(rest.code).toBe(0)
    expect(JSON.parse(rest.out)).toEqual({ outcomes: { unchanged: 1 }, refused: 0, errors: [] })
  })

  test('import --from semstreams takes entity states, again without change, and tells bad ones with their reason', async () => {
    const drone = id('drone', 'a1')
    const fact = (object: unknown) => ({
      subject: drone,
      predicate: 'fleet.drone.name',
      object,
      ...said,
      confidence: 0.9,
    })
    const states = [
      { id: drone, triples: [fact('Quail')], message_type: 'fleet.drone.v1', version: 3, updated_at: said.timestamp },
      { id: 'a.b.c', triples: [] },
      { id: id('drone', 'a2'), triples: [{ ...fact('x'), subject: id('drone', 'a2'), predicate: 'Name' }] },
    ]
    writeFileSync(join(folder, 'states.json'), JSON.stringify(states, null, 2))
    for (const outcome of ['created', 'unchanged']) {
      const done = await cli(['graph', 'import', 'states.json', '--from', 'semstreams'])
      expect(done).toMatchObject({ code: 1, out: `1 line imported (1 ${outcome}), 2 refused.\n` })
      expect(done.err).toMatch(/^line 2 \(a\.b\.c\): .*\(arity\)/m)
      expect(done.err).toMatch(/^line 3 .*: A predicate is dotted lower-case/m)
    }
    const rest = await cli(['graph', 'import', 'states.json', '--from', 'semstreams', '--from-line', '3'])
    expect(rest.out).toBe('0 lines imported, 1 refused.\n')
    expect((await cli(['graph', 'show', drone])).out).toContain('Quail (drone)')
    expect((await cli(['graph', 'delete', drone])).code).toBe(0)
    const unknown = await cli(['graph', 'import', 'states.json', '--from', 'neo4j'])
    expect(unknown).toMatchObject({ code: 2, err: expect.stringContaining('Allowed choices are sluice, semstreams') })
  })

  test('search finds by words, by type, in bodies; --ndjson answers a line each', async () => {
    const found = await cli(['graph', 'search', 'harbour', 'Nesodden'])
    expect(found.out).toMatch(new RegExp(`^ +\\d+\\.\\d{3} {2}Oslo \\(city\\) {2}${OSLO}\\n +The harbour`))
    const json = JSON.parse(
      (await cli(['graph', 'search', 'norway', '--type', 'country', '--limit', '1', '--json'])).out,
    )
    expect(json.hits).toMatchObject([{ entity_id: NORWAY, source: 'bm25_index' }])
    expect((await cli(['graph', 'search', 'zebra'])).out).toBe('Nothing found.\n')
    const meant = await cli(['graph', 'search', 'Olso', 'harbour'])
    expect(meant.out).toMatch(/^Did you mean oslo\? Nothing has the word Olso\.\n +\d+\.\d{3} {2}Oslo/)
    const asked = [{ id: 1, query: 'harbour' }, { id: 'b', query: 'zebra', limit: 3 }, { id: 'c' }]
    const lines = jsonLines(
      (await cli(['graph', 'search', '--ndjson'], asked.map((one) => JSON.stringify(one)).join('\n'))).out,
    )
    expect(lines).toEqual([
      { id: 1, hits: [{ entity_id: OSLO, score: expect.any(Number), source: 'bm25_index' }] },
      { id: 'b', hits: [] },
      { id: 'c', error: { code: 'malformed_line', message: expect.stringContaining('line 3') } },
    ])
  })

  test('eval measures rankings of questions with known answers', async () => {
    const asked = [
      { question: 'Which country is called Norge?', relevant: [NORWAY, { id: 'city.oslo', grade: 0 }] },
      { question: 'harbour Nesodden', relevant: [{ id: 'city.oslo', grade: 2 }, id('country', 'atlantis')] },
    ]
    const measured = await cli(['graph', 'eval', file('asked.ndjson', asked)])
    expect(measured).toMatchObject({ code: 0, err: '' })
    const lines = measured.out.split('\n')
    expect(lines[0]).toBe('2 questions')
    expect(lines[1]).toMatch(/^ +nDCG@10 {2}Recall@5 {2}MRR@10 {2}against words +p$/)
    expect(lines[2]).toMatch(/^words +0\.\d{3} +0\.750 +1\.000$/)
    expect(lines[3]).toMatch(/^words and links +0\.\d{3} +0\.750 +1\.000 +\+0\.000 +1\.0$/)
    expect(lines.slice(-3)).toEqual([
      '1 relevant id in none of the rankings.',
      `Not in the graph: ${id('country', 'atlantis')}.`,
      '',
    ])
    const answered = JSON.parse((await cli(['graph', 'eval', 'asked.ndjson', '--answers', '--json'])).out)
    expect(answered.rankings.map(({ name }: { name: string }) => name)).toEqual([
      'words',
      'words and links',
      'evidence',
    ])
    expect(answered).toMatchObject({ questions: 2, never_found: 1, not_there: [id('country', 'atlantis')] })
    const bad = await cli(['graph', 'eval', '-'], '{"question":"x","relevant":["a"]}\n{"question":"x"}\n')
    expect(bad).toMatchObject({ code: 2, out: '' })
    expect(bad.err).toMatch(/Cannot read line 2 of "-".*relevant/)
    expect((await cli(['graph', 'eval', 'asked.ndjson', '--budget', '5'])).code).toBe(2)
    const linked = await cli(['graph', 'search', 'Oslo', '--linked', '--json'])
    expect(JSON.parse(linked.out).hits[0]).toMatchObject({ entity_id: OSLO })
  })

  test('show and neighbors print what an entity states and what is stated of it', async () => {
    const shown = await cli(['graph', 'show', NORWAY])
    expect(shown.out).toContain(`Norway (country)  ${NORWAY}\nalso: Norge\nNorway is a country.\n`)
    expect(shown.out).toContain(`  geo.country.capital  ${OSLO}  (test)\n`)
    const near = await cli(['graph', 'neighbors', NORWAY])
    expect(near.out.split('\n')).toEqual([
      `1  ${NORWAY}  geo.country.capital  Oslo`,
      `1  Sweden  geo.country.borders  ${NORWAY}`,
      '',
    ])
    const out = await cli(['graph', 'neighbors', NORWAY, '--direction', 'in', '--predicate', 'geo.country.capital'])
    expect(out.out).toBe('No edges.\n')
    expect((await cli(['graph', 'show', id('city', 'nowhere')])).code).toBe(1)
  })

  test('neighbors prints what texts mention, and where; --stated leaves it out', async () => {
    const tale = { entity_id: id('tale', 'saga'), label: 'Saga', body: 'They sailed to Old Uppsala.' }
    const town = { entity_id: id('city', 'up'), label: 'Old Uppsala' }
    await cli([
      'graph',
      'import',
      file(
        'tale.ndjson',
        [tale, town].map((line) => JSON.stringify(line)),
      ),
    ])
    const near = await cli(['graph', 'neighbors', town.entity_id])
    expect(near.out).toBe(`1  Saga  sluice.mentions  ${town.entity_id}  (body 15-26)\n`)
    expect((await cli(['graph', 'neighbors', town.entity_id, '--stated'])).out).toBe('No edges.\n')
    await cli(['graph', 'delete', tale.entity_id, town.entity_id])
  })

  test('delete takes ids or a file; again they are not there', async () => {
    expect((await cli(['graph', 'delete', SWEDEN])).out).toBe('Deleted 1, 0 not there, 0 refused.\n')
    const rest = await cli(['graph', 'delete', SWEDEN, 'nonsense', '--file', file('ids.ndjson', [LINES[1], NORWAY])])
    expect({ code: rest.code, out: rest.out }).toEqual({ code: 1, out: 'Deleted 2, 1 not there, 1 refused.\n' })
    expect(rest.err).toMatch(/^nonsense: .*\(arity\)/)
    expect((await cli(['graph', 'search', 'harbour'])).out).toBe('Nothing found.\n')
  })

  test.each([
    ['no file', ['graph', 'import'], /file/],
    ['a file that is not there', ['graph', 'import', 'nope.ndjson'], /no such file/],
    ['a folder', ['graph', 'import', '.'], /it is a folder/],
    ['words beside --ndjson', ['graph', 'search', 'x', '--ndjson'], /stdin/],
    ['nothing to delete', ['graph', 'delete'], /--file/],
  ])('%s is exit code 2', async (_, args, words) => {
    const { code, out, err } = await cli(args)
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toMatch(words)
  })

  test('a document is drawn as before', async () => {
    writeFileSync(
      join(folder, 'one.yaml'),
      'blocks:\n  - { id: a, agent: { provider: local, model: m, prompt: p }, outputs: { x: string } }\n',
    )
    const drawn = await sluice(['graph', 'one.yaml', '--json'], { cwd: folder })
    expect(JSON.parse(drawn.out)).toMatchObject({ nodes: [{ id: 'a' }] })
  })
})
