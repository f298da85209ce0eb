import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { folderModules } from '../../infra/modules/project-gates.ts'
import type { RunEvent } from '../../shared/runs/event.ts'
import { parseSettings } from '../../shared/settings/parse.ts'
import { type Synthesized, synthesize } from '../integration/aws/synthesized.ts'
import { type Caller, callerOf, isEnd } from './caller.ts'
import { type Deployment, deploy } from './deploy.ts'

/** Gates of a project on the synthesized application: deployed with the documents, kept by runs, judged in the isolate of the sandbox. */
const GATE = `
import { defineGate } from 'sluice'
import * as z from 'zod'
export default defineGate({
  params: z.strictObject({ port: z.string(), names: z.array(z.string()).min(1) }),
  reads: ({ port }) => [port],
  check({ params, port }) {
    const found = params.names.filter((name) => String(port(params.port)).includes(name))
    return { passed: found.length === 0, reason: found.length + ' found', evidence: { found } }
  },
})
`
const document = (check: string) => `
name: reply
inputs: { notes: string }
blocks:
  - id: draft
    inputs: { notes: string }
    outputs: { reply: string }
    agent: { provider: local, model: outline }
    post_gates: [{ name: fair, check: ${check}, on_fail: fail }]
`
const CHECK = '{ type: ./gates/fair.ts, port: reply, names: [Acme] }'

let project: string
let made: Synthesized
let place: Deployment
let caller: Caller

beforeAll(async () => {
  project = mkdtempSync(join(tmpdir(), 'sluice-project-'))
  for (const [name, text] of Object.entries({ 'gates/fair.ts': GATE, 'dags/reply.yaml': document(CHECK) })) {
    mkdirSync(dirname(join(project, name)), { recursive: true })
    writeFileSync(join(project, name), text)
  }
  made = await synthesize({}, parseSettings('', 'sluice.yaml'), 'bundled', project)
  place = await deploy(made.out)
  caller = callerOf(place.api.url)
}, 300_000)
afterAll(async () => {
  await place.close()
  made.remove()
  rmSync(project, { recursive: true, force: true })
})

const verdicts = (events: readonly RunEvent[]) =>
  events.flatMap((event) => (event.type === 'block:gate' ? [event.data] : []))

test('a deployed gate judges, by the version it was deployed with, and the run verifies by it', async () => {
  const found = await folderModules(project).gate('./gates/fair.ts')
  const version = found.ok ? found.hash : ''
  const good = await caller.start({ name: 'reply', inputs: { notes: 'All is well.' } })
  const passed = await caller.until(good, isEnd)
  expect(passed.at(-1)?.type).toBe('run:completed')
  expect(verdicts(passed)).toEqual([
    expect.objectContaining({ type: './gates/fair.ts', status: 'passed', reason: '0 found', version }),
  ])
  const bad = await caller.start({ name: 'reply', inputs: { notes: 'Acme is bad.' } })
  const failed = await caller.until(bad, isEnd)
  expect(failed.at(-1)?.type).toBe('run:failed')
  expect(verdicts(failed)[0]).toMatchObject({ status: 'failed', facts: { found: ['Acme'] }, version })
  const { json } = await caller.call('GET', `/api/dag/runs/${good}/verify`)
  expect(json).toMatchObject({ ok: true })
})

test('a document that names a gate of the stage is checked by it, and one that was not deployed is refused', async () => {
  const validate = async (check: string) =>
    (await caller.call('POST', '/api/dag/validate', { dag: document(check) })).json
  expect(await validate(CHECK)).toMatchObject({ valid: true })
  expect(await validate('{ type: ./gates/fair.ts, port: reply }')).toMatchObject({
    valid: false,
    errors: [{ code: 'missing_key', line: 9 }],
  })
  expect(await validate('{ type: ./gates/fare.ts, port: reply, names: [a] }')).toMatchObject({
    valid: false,
    errors: [{ code: 'gate_module_missing', hint: 'Did you mean "./gates/fair.ts"?' }],
  })
})
