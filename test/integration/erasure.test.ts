import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { findFirings } from '../../functions/erasure/collect-run.ts'
import type { Provider } from '../../shared/providers/provider.ts'
import { subjectDigest } from '../../shared/runs/subject.ts'
import { child, childOf, deployDocument } from './child-place.ts'
import { openTestPlace, type TestPlace } from './test-place.ts'

const SECRET = 'ZUCKERWATTE'
let at: TestPlace
afterEach(() => at.close())

const said = (what: string) => `${SECRET} ${what}`

const speaker: Provider = {
  dispatch: async () => ({
    text: said('answer '.repeat(4_000)),
    model: 'm',
    tokens_in: 3,
    tokens_out: 4,
    latency_ms: 1,
    finish_reason: 'stop',
  }),
} as unknown as Provider

const DOCUMENT = {
  name: 'telling',
  inputs: { topic: { type: 'string', search: true } },
  blocks: [
    {
      id: 'write',
      outputs: { text: { type: 'string', search: true } },
      agent: { provider: 'speaker', model: 'm', prompt: said('prompt {{inputs.topic}}') },
      cache: { max_age_sec: 3_600 },
    },
    {
      id: 'keep',
      mode: 'deterministic',
      inputs: { body: { from: 'write.text' } },
      outputs: { note: 'artifact' },
      deterministic: { handler: 'write-artifact', config: { name: 'note.md' } },
      approval: { prompt: said('question'), show: ['body'] },
    },
  ],
}

/** Every file below the data folder that has the word. */
function filesWith(place: TestPlace, word: string): readonly string[] {
  const folder = place.place.world.settings.data_dir
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => readFileSync(file, 'latin1').toLowerCase().includes(word.toLowerCase()))
}

/** Words, each at another place of a run. */
const SAID = ['prompt', 'answer', 'question', 'input', 'feedback', 'label', 'other label', 'note']

async function tell(place: TestPlace, topic: string): Promise<string> {
  const run = await place.start(DOCUMENT, { inputs: { topic: said(topic) }, labels: { about: said('label') } })
  const asked = await place.until(run, ({ type }) => type === 'approval:requested')
  const digest = asked.type === 'approval:requested' ? asked.data.digest : ''
  const decided = await place.call('decide-approval', run, { decision: 'approve', digest, feedback: said('feedback') })
  expect(decided.status).toBe(200)
  await place.ended(run)
  const labels = { set: { about: said('other label'), [SECRET]: 'key' } }
  expect((await place.call('add-note', run, { text: said('note'), labels })).status).toBe(201)
  expect((await place.call('add-note', run, { labels: { remove: [SECRET] } })).status).toBe(201)
  await expect.poll(() => found(place, 'answer')).toContain(run)
  return run
}

interface Shown {
  readonly hold?: unknown
  readonly erasure?: {
    readonly step: string
    readonly bodies?: { readonly kept?: number }
    readonly children: string[]
  }
}

async function found(place: TestPlace, q: string): Promise<readonly string[]> {
  const answer = await place.place.invoke('search-runs', {
    ...{ httpMethod: 'GET', path: '/', pathParameters: null, queryStringParameters: { q } },
    ...{ headers: {}, body: null, isBase64Encoded: false },
  })
  const { runs } = JSON.parse((answer as { readonly body: string }).body)
  return runs.map(({ run_id }: { readonly run_id: string }) => run_id)
}

async function erasure(place: TestPlace, run: string): Promise<NonNullable<Shown['erasure']> | undefined> {
  const { json }: { readonly json: Shown } = await place.call('get-erasure', run)
  return json.erasure
}

/** Asked for as soon as its end is told, and waited for. */
async function erase(place: TestPlace, run: string): Promise<NonNullable<Shown['erasure']> | undefined> {
  const ask = async () => (await place.call('erase-run', run, { reason: 'They asked for it' })).status
  await expect.poll(ask, { timeout: 60_000 }).toBe(202)
  await expect.poll(async () => (await erasure(place, run))?.step, { timeout: 100_000 }).toBe('erased')
  return erasure(place, run)
}

test('nothing of an erased run is found in any file of the data folder, and its record says who and why', async () => {
  at = await openTestPlace({ providers: { speaker } }, { buses: [{ name: 'all', events: 'all' }] })
  const [run, other] = [await tell(at, 'input'), await tell(at, 'of another')]
  expect((await at.call('record-run', run)).status).toBe(200)
  for (const word of SAID) expect(filesWith(at, `${SECRET} ${word}`), word).not.toEqual([])
  const record = await erase(at, run)
  expect(record).toMatchObject({
    by: expect.stringMatching(/^user:/),
    reason: 'They asked for it',
    run: { dag_name: 'telling' },
  })
  expect(record?.bodies?.kept).toBeGreaterThan(0)
  expect(filesWith(at, `${SECRET} input`)).toEqual([])
  // The word that it was erased is all that buses have of it.
  const told = filesWith(at, run).filter((file) => file.includes('buses'))
  const lines = told.flatMap((file) =>
    readFileSync(file, 'utf8')
      .split('\n')
      .filter((line) => line.includes(run)),
  )
  expect(lines.filter((line) => !line.includes('run:erased'))).toEqual([])
  // The other run has the same document and the same answer: they are its own.
  expect(JSON.stringify((await at.call('get-outputs', other)).json)).not.toContain('object_missing')
  expect((await at.call('verify-run', other)).json).toMatchObject({ ok: true })
  await erase(at, other)
  expect(filesWith(at, SECRET)).toEqual([])
  const verified: { readonly json: object } = await at.call('verify-run', run)
  expect(verified.json).toMatchObject({ ok: true, erasure: { proof: expect.any(String) } })
  for (const name of [
    'get-run',
    'get-run-graph',
    'stream-events',
    'record-run',
    'list-artifacts',
    'get-context',
    'retry-run',
  ]) {
    expect([name, (await at.call(name, run, name === 'retry-run' ? {} : undefined)).status]).toEqual([name, 410])
  }
  for (const [name, body] of [
    ['stop-run', {}],
    ['stop-run', { block_id: 'tell' }],
    ['decide-approval', { decision: 'reject', block_id: 'tell' }],
  ] as const) {
    expect([name, (await at.call(name, run, body)).json]).toMatchObject([name, { status: 410, code: 'run_erased' }])
  }
})

test('the runs below a run go with it, and none of them alone', async () => {
  at = await openTestPlace({ providers: { speaker } })
  const agent = { provider: 'speaker', model: 'm', prompt: said('prompt below') }
  deployDocument(at, 'below', [{ id: 'tell', outputs: { text: { type: 'string' } }, agent }])
  const run = await at.start({ name: 'above', blocks: [child('child', 'below')] })
  const below = await childOf(at, run, 'child')
  await at.ended(run)
  expect((await at.call('erase-run', below, { reason: 'alone' })).json).toMatchObject({ code: 'run_of_parent' })
  expect(await erase(at, run)).toMatchObject({ children: [below] })
  expect((await at.call('get-run', below)).status).toBe(410)
  expect((await at.call('verify-run', below)).json).toMatchObject({ ok: true, erasure: { of: run } })
  expect(filesWith(at, SECRET)).toEqual([])
})

test('a run that goes on is not erased, nor one that somebody holds, until it is released', async () => {
  at = await openTestPlace({ providers: { speaker } })
  const going = await at.start(DOCUMENT, { inputs: { topic: 'a' } })
  await at.until(going, ({ type }) => type === 'approval:requested')
  const ask = async (run: string) => at.call('erase-run', run, { reason: 'They asked for it' })
  expect([(await ask(going)).status, (await ask(going)).json]).toMatchObject([409, { code: 'run_not_ended' }])
  expect((await at.call('hold-run', going, { reason: 'An audit' })).json).toMatchObject({
    hold: { reason: 'An audit' },
  })
  await at.call('stop-run', going, {})
  await at.ended(going)
  await expect.poll(async () => (await ask(going)).json).toMatchObject({ code: 'run_held', status: 409 })
  expect((await at.call('release-hold', going, { reason: 'It is over' })).status).toBe(200)
  expect((await at.call('release-hold', going, { reason: 'It is over' })).json).toMatchObject({ code: 'run_not_held' })
  await erase(at, going)
  expect((await at.call('hold-run', going, { reason: 'Too late' })).status).toBe(410)
  expect((await at.call('erase-run', 'run_00000000000000000000000000', { reason: 'x' })).status).toBe(404)
})

test('an erasure that the place did not survive goes on in the next one', async () => {
  at = await openTestPlace({ providers: { speaker } })
  const run = await tell(at, 'input')
  const ask = async () => (await at.call('erase-run', run, { reason: 'They asked for it' })).status
  await expect.poll(ask, { timeout: 60_000 }).toBe(202)
  await at.kill({ providers: { speaker } })
  await erase(at, run)
  expect(filesWith(at, SECRET)).toEqual([])
})

test('the runs of a subject are found and erased by it, whoever named it; a document that names one has no run of nobody', async () => {
  at = await openTestPlace({ providers: { speaker } })
  const inputs = { customer: { type: 'json', required: false }, topic: 'string' }
  const blocks = [{ ...DOCUMENT.blocks[0], agent: { provider: 'speaker', model: 'm', prompt: 'Say {{inputs.topic}}' } }]
  const dag = { name: 'of-customer', subject: 'inputs.customer.id', inputs, blocks }
  const person = `${SECRET} customer`
  const own = await at.start(dag, { inputs: { topic: 'a', customer: { id: person } } })
  const plain = { ...dag, subject: undefined }
  const told = await at.start(plain, { inputs: { topic: 'b' }, subject: [person, 'somebody else'] })
  const other = await at.start(dag, { inputs: { topic: 'c', customer: { id: 4711 } } })
  await expect(at.start(dag, { inputs: { topic: 'd' } })).rejects.toThrow('subject_missing')
  for (const run of [own, told, other]) await at.ended(run)
  const again: { readonly json: { readonly run_id?: string } } = await at.call('retry-run', told, {})
  const retried = String(again.json.run_id)
  await at.ended(retried)
  expect(await found(at, `subject:"${person}"`)).toEqual([retried, told, own])
  expect(await found(at, 'subject:4711')).toEqual([other])
  expect(await found(at, `-subject:"${person}" dag:of-customer`)).toEqual([other])
  for (const run of [own, told, retried]) await erase(at, run)
  expect(await found(at, `subject:"${person}"`)).toEqual([])
  // What the model says is in the other run too.
  expect(filesWith(at, person)).toEqual([])
  expect(filesWith(at, subjectDigest(person))).toEqual([])
  expect(filesWith(at, subjectDigest('4711'))).not.toEqual([])
})

test('a run that goes on is erased as soon as it has ended, if that is asked for', async () => {
  at = await openTestPlace({ providers: { speaker } })
  const going = await at.start(DOCUMENT, { inputs: { topic: said('topic') } })
  await at.until(going, ({ type }) => type === 'approval:requested')
  const asked = await at.call('erase-run', going, { reason: 'They asked for it', when_ended: true })
  expect([asked.status, asked.json]).toMatchObject([202, { erasure: { step: 'asked', when_ended: true } }])
  expect((await at.call('get-run', going)).status).toBe(200)
  expect((await at.call('hold-run', going, { reason: 'Too late' })).status).toBe(410)
  await at.call('stop-run', going, {})
  await expect.poll(async () => (await erasure(at, going))?.step, { timeout: 100_000 }).toBe('erased')
  expect(filesWith(at, SECRET)).toEqual([])
})

test('firings that were joined with the one that started a run lose their inputs with it', async () => {
  at = await openTestPlace({ providers: { speaker } })
  const { world } = at.place
  const run = await tell(at, 'input')
  const meta = await world.runs.meta({ tenant: 'main', run_id: run })
  const key = { tenant: 'main', document: meta?.dag_name ?? '', trigger: 'hook' }
  const keep = async (id: string, reason?: { readonly code: string; readonly message: string }) => {
    const values = await world.objects.put('main', Buffer.from(JSON.stringify({ topic: said(`firing ${id}`) })))
    const times = { at: meta?.created_at ?? '', kept_at: meta?.created_at ?? '', next_at: meta?.created_at ?? '' }
    const run_id = `run_${id.padStart(26, '0')}`
    const ended = { state: 'skipped' as const, ended_at: times.at, ...(reason && { reason }) }
    await world.triggers.keepFiring({ ...key, id, kind: 'webhook', ...times, values, tries: 0, run_id, ...ended })
    return { topic: id, ...values }
  }
  const message = `Firing 2 stands for it: its run is ${run} (debounce).`
  const joined = await keep('1', { code: 'trigger_joined', message })
  const another = await keep('3', { code: 'trigger_rate', message: 'one too many' })
  const found = await findFirings(world, { ...meta, starter: 'trigger:hook' } as never)
  expect(found.map(({ id }) => id)).toEqual(['1'])
  const has = ({ sha256 }: { readonly sha256: string }) => found.some(({ values }) => values?.sha256 === sha256)
  expect([has(joined), has(another)]).toEqual([true, false])
})
