import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import * as z from 'zod'
import { localPrincipal } from '../../../infra/local/login.ts'
import { openPlace, type Place } from '../../../infra/local/place.ts'
import { principalName } from '../../../shared/auth/principal.ts'
import { runIdOfIdempotencyKey } from '../../../shared/runs/ids.ts'
import { SettingsSchema } from '../../../shared/settings/settings.ts'
import { sluice } from '../../e2e/run-cli.ts'

/** A run is named by the beginning of its id: of a person who types, and of programs at the list and at GET run. */
let place: Place
let folder: string
const ids: string[] = []
/** Keys of two runs whose ids begin with the same four characters, found by trying. */
const twins = twinKeys()
const cli = (...args: string[]) => sluice([...args, '--url', place.url ?? ''], { cwd: folder })
const get = async (path: string) => {
  const answer = await fetch(`${place.url}/api/dag/runs${path}`)
  return { status: answer.status, body: AnswerSchema.parse(await answer.json()) }
}
const AnswerSchema = z.looseObject({
  code: z.string().optional(),
  run: z.looseObject({ run_id: z.string() }).optional(),
  runs: z.array(z.looseObject({ run_id: z.string() })).optional(),
  facts: z.looseObject({ candidates: z.array(z.string()).optional() }).optional(),
})

const DAG = `
blocks:
  - id: write
    mode: deterministic
    outputs: { text: string }
    deterministic: { handler: transform, config: { expression: '"x"' } }
`

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-short-'))
  const settings = { data_dir: join(folder, 'data'), inputs_dir: folder, port: 0, safety: {} }
  place = await openPlace(SettingsSchema.parse(settings), { listen: true })
  for (const key of ['one', ...twins]) ids.push(await started(key))
})
afterAll(async () => {
  await place.close()
  rmSync(folder, { recursive: true })
})

function twinKeys(): readonly string[] {
  const seen = new Map<string, string>()
  for (let n = 0; ; n += 1) {
    const id = runIdOfIdempotencyKey('main', principalName(localPrincipal()), 'POST /api/dag/run', `key-${n}`)
    const twin = seen.get(id.slice(0, 8))
    if (twin !== undefined) return [twin, `key-${n}`]
    seen.set(id.slice(0, 8), `key-${n}`)
  }
}

async function started(key: string): Promise<string> {
  const headers = { 'content-type': 'application/json', 'idempotency-key': key }
  const body = JSON.stringify({ dag: DAG })
  const answer = await fetch(`${place.url}/api/dag/run`, { method: 'POST', headers, body })
  return z.looseObject({ run_id: z.string() }).parse(await answer.json()).run_id
}

test('commands take the beginning of an id, with and without run_', async () => {
  const [id = ''] = ids
  for (const typed of [id.slice(0, 12), id.slice(4, 12), id.slice(4), id]) {
    const shown = await cli('run', 'status', typed)
    expect(shown).toMatchObject({ code: 0, err: '', out: expect.stringMatching(new RegExp(`^${id}\n`)) })
  }
  expect((await cli('run', 'diff', id.slice(4, 12), (ids[1] ?? '').slice(4, 12))).code).toBe(0)
})

test('what begins no id is told as it was typed', async () => {
  expect(await cli('run', 'status', 'zzzzzzzz')).toMatchObject({ code: 1, err: expect.stringContaining('zzzzzzzz') })
  expect(await cli('run', 'status', 'run_zzzz')).toMatchObject({ code: 1, err: expect.stringContaining('run_zzzz') })
})

test('of several that begin so each is named', async () => {
  const [, one = '', two = ''] = ids
  const told = await cli('run', 'status', one.slice(4, 8))
  expect(told).toMatchObject({ code: 2, out: '', err: expect.stringContaining('[ambiguous_id]') })
  for (const id of [one, two]) expect(told.err).toContain(`${id}: `)
  const { status, body } = await get(`/${one.slice(0, 8)}`)
  expect({ status, code: body.code }).toEqual({ status: 400, code: 'ambiguous_id' })
  expect(body.facts?.candidates?.toSorted()).toEqual([one, two].toSorted())
})

test('the list and GET run take one too', async () => {
  const [id = '', other = ''] = ids
  expect((await get(`/${id.slice(0, 12)}`)).body.run?.run_id).toBe(id)
  expect((await get(`/${id.slice(4, 12)}`)).body.run?.run_id).toBe(id)
  const list = await get(`?id=${other.slice(4, 12)}`)
  expect(list.body.runs?.map(({ run_id }) => run_id)).toEqual([other])
  expect(await get('/zzzzzzzz')).toMatchObject({ status: 404, body: { code: 'unknown_run' } })
  expect((await get('/abc')).status).toBe(404)
  expect((await get('?id=a%25')).status).toBe(400)
})
