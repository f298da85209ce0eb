import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import * as z from 'zod'
import { assembleLocalWorld } from '../../../infra/local/assemble-world.ts'
import { createLog, systemClock } from '../../../infra/local/clock-and-log.ts'
import { allCommitted, commitsDone, openDatabase } from '../../../infra/local/database.ts'
import { localPrincipal } from '../../../infra/local/login.ts'
import { servePlace } from '../../../infra/local/server.ts'
import { SettingsSchema } from '../../../shared/settings/settings.ts'
import { keyOf, newRun, step } from '../../conformance/run-store-fixture.ts'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-streams-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

async function opened() {
  const settings = SettingsSchema.parse({ port: 0, data_dir: mkdtempSync(join(folder, 'data-')) })
  const db = openDatabase(settings.data_dir)
  const parts = { settings, db, clock: systemClock, log: createLog(false), providers: {}, keys: new Map() }
  const { host, world, close } = await assembleLocalWorld({ ...parts, address: { url: undefined } })
  const kept = () => allCommitted(db)
  const served = { settings, host, world, principal: localPrincipal(), kept, consoleDir: undefined, asks: false }
  const server = await servePlace(served)
  const end = async () => {
    await server.close()
    await close()
    db.close()
  }
  return { db, world, url: server.url, end }
}

test('a stream that is refused, since what was decided cannot be written, gives back its slots', async () => {
  const { db, world, url, end } = await opened()
  const run = keyOf(newRun(1).meta)
  await world.runs.create(newRun(1))
  await commitsDone(db)
  db.exec('PRAGMA query_only = 1')
  await world.runs.append(step(run, '1', 10, { repeatable: true }))
  const answer = await fetch(`${url}/api/dag/runs/${run.run_id}/events`)
  expect([answer.status, await answer.json()]).toMatchObject([503, { code: 'store_unavailable' }])
  db.exec('PRAGMA query_only = 0')
  expect(await world.runs.leases({ tenant: run.tenant, name: 'streams' })).toEqual({})
  await end()
})

const DAG = {
  name: 'one',
  blocks: [
    {
      id: 'a',
      mode: 'deterministic',
      outputs: { x: { type: 'number' } },
      deterministic: { handler: 'transform', config: { expression: '1' } },
    },
  ],
}

const AnswerSchema = z.looseObject({
  run_id: z.string().optional(),
  code: z.string().optional(),
  detail: z.string().optional(),
  facts: z.looseObject({ may_begin: z.string() }).optional(),
})
const ListSchema = z.looseObject({ runs: z.array(z.looseObject({ run_id: z.string() })) })

test('a start whose commit the disk refuses is told as one that may begin later, by its name; a refused one as none', async () => {
  const { db, url, end } = await opened()
  const start = async (query = '') => {
    const headers = { 'content-type': 'application/json' }
    const answer = await fetch(`${url}/api/dag/run${query}`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ dag: DAG }),
    })
    return { status: answer.status, json: AnswerSchema.parse(await answer.json()) }
  }
  const ids = async () => {
    const answer = await fetch(`${url}/api/dag/runs`)
    return ListSchema.parse(await answer.json()).runs.map(({ run_id }) => run_id)
  }
  // Its document is kept from here on.
  const first = await start('?wait=20')
  expect(first.status).toBe(201)
  // What the run before left to write may meet the disk first: then this start is refused, and none.
  const unsure = await vi.waitUntil(
    async () => {
      db.exec('PRAGMA query_only = 0')
      await commitsDone(db)
      db.exec('PRAGMA query_only = 1')
      const { status, json } = await start()
      return [status, json.code].join() === '503,store_unavailable' && json.facts !== undefined && json
    },
    { timeout: 30_000 },
  )
  const { detail, facts } = unsure
  expect(detail).toContain(`Run "${facts?.may_begin}" may begin all the same`)
  const refused = await start()
  expect(refused).toMatchObject({ status: 503, json: { code: 'store_unavailable' } })
  expect(refused.json.facts).toBeUndefined()
  db.exec('PRAGMA query_only = 0')
  await vi.waitUntil(async () => (await ids()).length === 2, { timeout: 30_000 })
  expect(await ids()).toEqual(expect.arrayContaining([first.json.run_id, facts?.may_begin]))
  await end()
})
