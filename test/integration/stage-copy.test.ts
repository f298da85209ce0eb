import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { exportStage } from '../../clients/cli/stage/export-stage.ts'
import { importStage } from '../../clients/cli/stage/import-stage.ts'
import { sha256 } from '../../shared/text/hash.ts'
import { place as entity, idOf, stated } from '../conformance/graph-fixture.ts'
import { richRun } from './rich-run.ts'
import { type Watched, watch } from './stage-door.ts'
import { openTestPlace, type TestPlace } from './test-place.ts'

/** `sluice stage export` and `import` between local places, over HTTP as the commands go. */
const SETTINGS = { port: 0, spending: [{ name: 'daily', per: 'day', tokens: 1_000_000 }] }
const quiet = () => undefined
const targetOf = (url: string) => ({ url, named: true })
const urlOf = ({ place }: TestPlace) => place.url ?? ''
const openEmpty = (more: object = {}) => openTestPlace({ listen: true }, { ...SETTINGS, ...more })

let from: TestPlace
let rich: string
let plain: string
let waits: string
let door: Watched
let root: string
let copies = 0
const opened: TestPlace[] = []

const ask = async (url: string, path: string, method = 'GET', body?: unknown) => {
  const init = body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }
  const answer = await fetch(`${url}${path}`, { method, ...init })
  return { status: answer.status, json: (await answer.json()) as Record<string, never> }
}

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'sluice-copies-'))
  const made = await richRun(SETTINGS, true, { listen: true })
  ;({ place: from, run_id: rich } = made)
  const url = urlOf(from)
  const inputs = { note: { type: 'string', search: true } }
  plain = await from.start(
    { inputs, blocks: [WRITES] },
    { inputs: { note: 'A note of the run' }, labels: { team: 'a' } },
  )
  await from.ended(plain)
  await from.call('add-note', plain, { text: 'It was well', labels: { set: { team: 'core' } } })
  waits = await from.start({ blocks: [{ ...WRITES, approval: { prompt: 'Go?' } }] })
  await from.until(waits, ({ type }) => type === 'approval:requested')
  const put = await fetch(`${url}/api/objects`, {
    method: 'PUT',
    body: 'The body of a place.',
    headers: { 'content-type': 'text/plain' },
  })
  const { ref } = (await put.json()) as { ref: string }
  const entities = [
    { ...entity('rome'), objectstore_ref: ref, triples: [stated('rome', 'geo.borders', idOf('ostia'))] },
    entity('ostia'),
  ]
  expect((await ask(url, '/api/graph/entities', 'PUT', { entities })).status).toBe(200)
  door = await watch(url)
}, 120_000)
afterEach(async () => {
  door.breakAt(undefined)
  for (const one of opened.splice(0)) await one.close()
})
afterAll(async () => {
  await door?.close()
  await from?.close()
  rmSync(root, { recursive: true, force: true })
})

const WRITES = {
  id: 'keep',
  inputs: { body: { type: 'string', default: 'A note.' } },
  outputs: { file: { type: 'artifact' } },
  mode: 'deterministic',
  deterministic: { handler: 'write-artifact', config: { name: 'note.txt' } },
}

const newFolder = () => {
  copies += 1
  return join(root, `copy-${copies}`)
}
const saved = async (folder = newFolder()) => ({ folder, told: await exportStage(targetOf(door.url), folder, quiet) })
const opening = async (more: object = {}) => {
  const place = await openEmpty(more)
  opened.push(place)
  return place
}

/** What people and programs are told of a run, but for when it was asked. */
async function toldOf(url: string, run_id: string) {
  const run = `/api/dag/runs/${run_id}`
  const paths = [run, `${run}/replay?limit=1000`, `${run}/context`, `${run}/artifacts`, `${run}/graph`]
  const told = await Promise.all(paths.map(async (path) => (await ask(url, path)).json))
  const blocks = (told[0] as { blocks?: object } | undefined)?.blocks ?? {}
  const each = await Promise.all(Object.keys(blocks).map(async (id) => (await ask(url, `${run}/blocks/${id}`)).json))
  return { told, each }
}

function filesIn(folder: string): Readonly<Record<string, string>> {
  const names = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((one) => one.isFile())
  const paths = names
    .map((one) => join(one.parentPath, one.name))
    .filter((path) => !/stage\.json|index\.jsonl/.test(path))
  return Object.fromEntries(paths.toSorted().map((path) => [path.slice(folder.length), sha256(readFileSync(path))]))
}

describe('a copy of a stage', () => {
  test('has every run that ended, with all bodies they name, and says what it does not have', async () => {
    const { folder, told } = await saved()
    expect(told).toMatchObject({ tenant: 'main', complete: true, runs: 2, fetched: { runs: 2 } })
    expect(told.left_out).toEqual([{ what: `run ${waits}`, why: 'it is paused_approval' }])
    const about = JSON.parse(readFileSync(join(folder, 'stage.json'), 'utf8'))
    expect(about.left_out.map(({ what }: { what: string }) => what)).toContain(
      'runs that have not ended: their executions do not move',
    )
    expect(Object.keys(filesIn(folder))).toEqual(
      expect.arrayContaining([`/runs/${rich}.jsonl`, `/runs/${plain}.jsonl`, '/graph/000001.jsonl', '/spending.jsonl']),
    )
    expect(told.bodies).toBeGreaterThan(10)
  })

  test('taken by an empty place, its runs are told as they were, and their chains hold', async () => {
    const { folder } = await saved()
    const to = await opening()
    const taken = await importStage(targetOf(urlOf(to)), folder, quiet)
    expect(taken).toMatchObject({ tenant: 'main', refused: [], there: 0 })
    for (const run_id of [rich, plain]) {
      expect(await toldOf(urlOf(to), run_id)).toEqual(await toldOf(urlOf(from), run_id))
      const verified = await ask(urlOf(to), `/api/dag/runs/${run_id}/verify`)
      const { checks = [] } = verified.json as { checks?: { ok: boolean; left_out?: string }[] }
      expect(checks.filter(({ ok, left_out }) => !ok && left_out === undefined)).toEqual([])
      expect(verified.json).toMatchObject({ ok: true, seal: { matches: true } })
    }
    const rome = await ask(urlOf(to), `/api/graph/entities/${encodeURIComponent(idOf('rome'))}`)
    expect(rome.json).toEqual((await ask(urlOf(from), `/api/graph/entities/${encodeURIComponent(idOf('rome'))}`)).json)
    // A run that was taken over is one to go on from.
    const again = await ask(urlOf(to), `/api/dag/runs/${plain}/retry`, 'POST', {})
    expect(again.status).toBe(201)
    expect((await to.ended(String(again.json.run_id))).at(-1)?.type).toBe('run:completed')
    await to.reopen()
    expect(await to.events(rich)).toEqual(await from.events(rich))
  })

  test('taken twice changes nothing, also after the note of what was sent is gone', async () => {
    const { folder } = await saved()
    const to = await opening()
    const first = await importStage(targetOf(urlOf(to)), folder, quiet)
    const before = await toldOf(urlOf(to), rich)
    expect(await importStage(targetOf(urlOf(to)), folder, quiet)).toMatchObject({ taken: 0, there: 0, bodies: 0 })
    for (const name of readdirSync(folder).filter((one) => one.startsWith('sent-'))) rmSync(join(folder, name))
    expect(await importStage(targetOf(urlOf(to)), folder, quiet)).toMatchObject({
      taken: 0,
      there: first.taken,
      refused: [],
    })
    expect(await toldOf(urlOf(to), rich)).toEqual(before)
    const spent = (await ask(urlOf(to), '/api/spending')).json as { caps?: { tokens: { spent: number } }[] }
    const was = (await ask(urlOf(from), '/api/spending')).json as typeof spent
    expect(spent.caps?.[0]?.tokens.spent).toBe(was.caps?.[0]?.tokens.spent)
    expect(was.caps?.[0]?.tokens.spent).toBeGreaterThan(0)
  })

  test('is merged with what a place has: nothing there is changed, and what differs is named', async () => {
    const { folder } = await saved()
    const to = await opening()
    const own = await to.start({ blocks: [WRITES] })
    await to.ended(own)
    const entities = [{ ...entity('rome'), label: 'Another Rome' }]
    await ask(urlOf(to), '/api/graph/entities', 'PUT', { entities })
    const { refused } = await importStage(targetOf(urlOf(to)), folder, quiet)
    expect(refused).toEqual([expect.objectContaining({ id: idOf('rome'), code: 'entity_differs' })])
    expect((await ask(urlOf(to), `/api/graph/entities/${encodeURIComponent(idOf('rome'))}`)).json).toMatchObject({
      entity: { label: 'Another Rome' },
    })
    expect((await to.events(own)).at(-1)?.type).toBe('run:completed')
    expect(await to.events(rich)).toEqual(await from.events(rich))
  })

  test('has labels, notes and words, and the run is found by them where it is taken', async () => {
    const { folder } = await saved()
    const to = await opening()
    await importStage(targetOf(urlOf(to)), folder, quiet)
    const notes = `/api/dag/runs/${plain}/notes`
    expect((await ask(urlOf(to), notes)).json).toEqual((await ask(urlOf(from), notes)).json)
    for (const q of ['label:team=core', 'note', plain.slice(0, 12)]) {
      const of = async (url: string) => {
        const { json } = await ask(url, `/api/dag/search?q=${encodeURIComponent(q)}`)
        return (json as { runs?: { run_id: string }[] }).runs?.map(({ run_id }) => run_id)
      }
      expect(await of(urlOf(to)), q).toEqual(await of(urlOf(from)))
      expect(await of(urlOf(to)), q).toContain(plain)
    }
  })

  test('brings no run back that was erased, and has none', async () => {
    const { folder } = await saved()
    const to = await opening()
    await importStage(targetOf(urlOf(to)), folder, quiet)
    const run = `/api/dag/runs/${plain}`
    await expect
      .poll(async () => (await ask(urlOf(to), run, 'DELETE', { reason: 'They asked for it' })).status)
      .toBe(202)
    const step = async () => {
      const { json } = await ask(urlOf(to), `${run}/erasure`)
      return (json as { erasure?: { step: string } }).erasure?.step
    }
    await expect.poll(step, { timeout: 60_000 }).toBe('erased')
    for (const name of readdirSync(folder).filter((one) => one.startsWith('sent-'))) rmSync(join(folder, name))
    const { refused } = await importStage(targetOf(urlOf(to)), folder, quiet)
    expect(refused).toEqual([expect.objectContaining({ id: plain, code: 'run_erased' })])
    expect((await ask(urlOf(to), run)).status).toBe(410)
    expect((await ask(urlOf(to), `${run}/erasure`)).json).toMatchObject({
      erasure: { step: 'bodies', brought_back: 1 },
    })
    // What the copy brought is looked at an hour later; here now.
    const goOn = async () => {
      await to.place.invoke('keep-or-erase', { tenant: 'main', run_id: plain })
      return step()
    }
    await expect.poll(goOn, { timeout: 60_000, interval: 1_000 }).toBe('erased')
    expect((await ask(urlOf(to), `${run}/verify`)).json).toMatchObject({ ok: true })
    const copy = newFolder()
    expect(await exportStage(targetOf(urlOf(to)), copy, quiet)).toMatchObject({ runs: 1, left_out: [] })
    expect(readdirSync(join(copy, 'runs'))).toEqual([`${rich}.jsonl`])
  })

  test('wherever an export breaks off, the next one goes on and writes the same files', async () => {
    const whole = filesIn((await saved()).folder)
    door.breakAt(undefined)
    await saved()
    const { requests } = door.seen
    for (const at of [1, 2, 5, 9, Math.floor(requests / 2), requests - 2, requests]) {
      const folder = newFolder()
      door.breakAt(at)
      await expect(saved(folder), `request ${at}`).rejects.toThrow()
      await expect(importStage(targetOf(door.url), folder, quiet)).rejects.toThrow(/not finished/)
      door.breakAt(undefined)
      await saved(folder)
      expect(door.seen.requests, `after request ${at}`).toBeLessThanOrEqual(requests + 3)
      const { '/unfinished': _, '/unfinished-body': __, ...files } = filesIn(folder)
      expect(files, `request ${at}`).toEqual(whole)
    }
  })

  test('wherever an import breaks off, the next one goes on', async () => {
    const { folder } = await saved()
    for (const at of [1, 2, 4, 8, 20]) {
      const [to, copy] = [await opening(), newFolder()]
      cpSync(folder, copy, { recursive: true })
      const before = await watch(urlOf(to))
      before.breakAt(at)
      await expect(importStage(targetOf(before.url), copy, quiet), `request ${at}`).rejects.toThrow()
      before.breakAt(undefined)
      expect(await importStage(targetOf(before.url), copy, quiet)).toMatchObject({ refused: [] })
      await before.close()
      expect(await toldOf(urlOf(to), rich)).toEqual(await toldOf(urlOf(from), rich))
    }
  })

  test('a later export fetches what is new alone', async () => {
    const { folder } = await saved()
    const next = await from.start({
      blocks: [{ ...WRITES, inputs: { body: { type: 'string', default: 'Another.' } } }],
    })
    await from.ended(next)
    expect((await saved(folder)).told).toMatchObject({ runs: 3, fetched: { runs: 1 } })
    const to = await opening()
    await importStage(targetOf(urlOf(to)), folder, quiet)
    expect(await to.events(next)).toEqual(await from.events(next))
  })
})

describe('a copy that is not what was exported is not taken', () => {
  const refusal = async (change: (folder: string) => void) => {
    const { folder } = await saved()
    change(folder)
    const to = await opening()
    await expect(importStage(targetOf(urlOf(to)), folder, quiet)).rejects.toThrow()
    const thrown = await importStage(targetOf(urlOf(to)), folder, quiet).catch((error: unknown) => error)
    expect((await ask(urlOf(to), `/api/dag/runs/${rich}`)).status).toBe(404)
    return String((thrown as Error).message)
  }
  const edit = (path: string, of: (text: string) => string) => writeFileSync(path, of(readFileSync(path, 'utf8')))
  /** As somebody would who wants it to be taken: every hash is made again. */
  const forge = (folder: string, of: (text: string) => string) => {
    const file = `runs/${rich}.jsonl`
    edit(join(folder, file), of)
    const text = readFileSync(join(folder, file))
    edit(join(folder, 'index.jsonl'), (index) =>
      index.replace(
        new RegExp(`("file":"${file}".*"sha256":")[0-9a-f]{64}(","bytes":)\\d+`),
        `$1${sha256(text)}$2${text.byteLength}`,
      ),
    )
    edit(join(folder, 'stage.json'), (about) =>
      about.replace(/"index_sha256": "\w+"/, `"index_sha256": "${sha256(readFileSync(join(folder, 'index.jsonl')))}"`),
    )
  }

  test.each<[string, (folder: string) => void, RegExp]>([
    [
      'a body with another byte',
      (folder) => {
        const [part = ''] = readdirSync(join(folder, 'objects'))
        const [name = ''] = readdirSync(join(folder, 'objects', part))
        edit(join(folder, 'objects', part, name), (text) => `${text} `)
      },
      /is damaged/,
    ],
    [
      'a record with another byte',
      (folder) => edit(join(folder, `runs/${rich}.jsonl`), (text) => text.replace('"plan"', '"plam"')),
      /is damaged/,
    ],
    [
      'an index with a line less',
      (folder) => edit(join(folder, 'index.jsonl'), (text) => text.slice(text.indexOf('\n') + 1)),
      /is damaged/,
    ],
    [
      'an event that says something else',
      (folder) => forge(folder, (text) => text.replace(/("type":"approval:decided".*"via":")\w+"/, '$1slack"')),
      /hash chain/,
    ],
    [
      'an event less',
      (folder) => forge(folder, (text) => text.replace(/\{"event":\{"seq":3,.*\n/, '')),
      /is not the one that follows/,
    ],
    [
      'another end',
      (folder) => forge(folder, (text) => text.replace('"state":"completed","seq"', '"state":"failed","seq"')),
      /its last event is run:completed/,
    ],
    [
      'another document',
      (folder) => forge(folder, (text) => text.replace(/"dag_hash":"\w/, '"dag_hash":"x')),
      /did not begin as its META says/,
    ],
    ['no HEAD', (folder) => forge(folder, (text) => text.replace('"lanes":', '"lames":')), /"lanes" is missing/],
    [
      'another person who decided',
      (folder) => forge(folder, (text) => text.replace(/"decided_by":"[^"]+"/, '"decided_by":"user:mallory"')),
      /differ in who decided/,
    ],
    ['a line of no kind', (folder) => forge(folder, (text) => `${text}{"secret":1}\n`), /is of kind "secret"/],
    [
      'a tenant of its own',
      (folder) => forge(folder, (text) => text.replace('"tenant":"main"', '"tenant":"acme"')),
      /is of tenant "acme"/,
    ],
  ])('%s', async (_name, change, words) => {
    expect(await refusal(change)).toMatch(words)
  })

  test.each<[string, (text: string) => string]>([
    ['a block that failed has completed', (text) => text.replace(/("block":\{.*"state":")skipped"/, '$1completed"')],
    ['less was spent', (text) => text.replace(/"spent_tokens":\d+/, '"spent_tokens":0')],
  ])('what does not follow from the events is refused by name: %s', async (_name, change) => {
    const { folder } = await saved()
    forge(folder, change)
    const to = await opening()
    const { refused, taken } = await importStage(targetOf(urlOf(to)), folder, quiet)
    expect(refused).toEqual([expect.objectContaining({ id: rich, code: 'run_unsound' })])
    expect(taken).toBeGreaterThan(0)
    expect((await ask(urlOf(to), `/api/dag/runs/${rich}`)).status).toBe(404)
  })

  test('a folder that holds something else is neither written to nor read', async () => {
    const folder = mkdtempSync(join(root, 'other-'))
    writeFileSync(join(folder, 'notes.txt'), 'mine')
    await expect(saved(folder)).rejects.toThrow(/no copy/)
    await expect(importStage(targetOf(door.url), folder, quiet)).rejects.toThrow(/no copy/)
    expect(readdirSync(folder)).toEqual(['notes.txt'])
  })

  test('a run that is too old to be kept is named, and not taken', async () => {
    const { folder } = await saved()
    const to = await opening()
    const clock = to.place.world.clock as { now: () => number }
    const now = clock.now
    clock.now = () => now() + 91 * 86_400_000
    const { refused } = await importStage(targetOf(urlOf(to)), folder, quiet)
    expect(refused).toContainEqual(expect.objectContaining({ id: rich, code: 'run_expired' }))
    expect((await ask(urlOf(to), `/api/dag/runs/${rich}`)).status).toBe(404)
  })
})

// Last: every copy after it has that body, too.
describe('a large body', () => {
  test('bodies of any size come in parts that a function may answer', async () => {
    const body = Buffer.alloc(10_000_000, 'ab')
    const size = body.byteLength
    const ticket = await ask(urlOf(from), '/api/objects/upload', 'POST', { sha256: sha256(body), size })
    await fetch(`${urlOf(from)}${ticket.json.url}`, { method: 'PUT', body })
    const entities = [{ ...entity('large'), objectstore_ref: ticket.json.ref }]
    expect((await ask(urlOf(from), '/api/graph/entities', 'PUT', { entities })).status).toBe(200)
    door.seen.largest = 0
    const { folder } = await saved()
    expect(door.seen.largest).toBeLessThan(6_000_000)
    const to = await opening()
    expect(await importStage(targetOf(urlOf(to)), folder, quiet)).toMatchObject({ refused: [] })
    const there = await fetch(`${urlOf(to)}/api/objects/${sha256(body)}`)
    expect(sha256(Buffer.from(await there.arrayBuffer()))).toBe(sha256(body))
  })
})
