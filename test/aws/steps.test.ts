import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parseSettings } from '../../shared/settings/parse.ts'
import { stepFunction, stepSlug } from '../../shared/steps/described-step.ts'
import { type Synthesized, synthesize } from '../integration/aws/synthesized.ts'
import { type Caller, callerOf, isEnd } from './caller.ts'
import { type Deployment, deploy } from './deploy.ts'

/** Steps of a project on the synthesized application: each is a function with a role of its own, invoked by its version. */
const SECRET = 'arn:aws:secretsmanager:eu-central-1:000000000000:secret:sluice/crm-AbCdEf'
const VALUE = 'canary-of-the-step'

const SPLIT = `
import { defineStep } from 'sluice'
import * as z from 'zod'
export default defineStep({
  inputs: z.object({ text: z.string() }),
  outputs: z.object({ rows: z.array(z.string()), seen: z.json() }),
  async run({ inputs, log, secrets, artifacts, attempt, key }) {
    log.info('the secret is ' + secrets.CRM_KEY)
    if (inputs.text === 'wait') await new Promise((resolve) => setTimeout(resolve, 60_000))
    await artifacts.write('rows.txt', inputs.text)
    const seen = Object.keys(process.env).filter((name) => name.startsWith('AWS_') || name === 'BUCKET' || name === 'STAGE')
    return { rows: inputs.text.split(','), seen: { env: seen.toSorted(), secret: secrets.CRM_KEY === '${VALUE}', attempt, key, set: process.env.MODE ?? null } }
  },
})
`
const COUNT = `
process.stdin.setEncoding('utf8')
let text = ''
process.stdin.on('data', (piece) => { text += piece })
process.stdin.on('end', () => {
  const { inputs } = JSON.parse(text)
  process.stdout.write(JSON.stringify({ count: inputs.rows.length }))
})
`
/** Its first attempt is cut off by its block's time. */
const PAY = `
import { defineStep } from 'sluice'
import * as z from 'zod'
export default defineStep({
  inputs: z.object({}),
  outputs: z.object({ paid: z.number() }),
  effect: 'once',
  async run({ attempt }) {
    if (attempt === 1) await new Promise((resolve) => setTimeout(resolve, 60_000))
    return { paid: attempt }
  },
})
`
const PAYING = `
name: paying
blocks:
  - id: pay
    mode: deterministic
    deterministic: { handler: ./steps/pay.ts }
    timeout_ms: 5000
    retry: { max_attempts: 2 }
`
const DOCUMENT = `
name: tickets
inputs: { text: string }
blocks:
  - id: split
    mode: deterministic
    deterministic: { handler: ./steps/split.ts }
    inputs: { text: string }
    retry: { max_attempts: 2 }
  - id: count
    mode: deterministic
    deterministic: { handler: ./steps/count }
    inputs: { rows: { from: split.rows } }
    post_gates: [{ name: some, check: { type: range, port: count, min: 1 } }]
  - id: each
    mode: deterministic
    deterministic: { handler: ./steps/split.ts }
    inputs: { rows: { from: split.rows } }
    foreach: { items: "{{inputs.rows}}", as: text }
`
const SETTINGS = `
programs:
  ./steps/count: { exec: [node, steps/count.mjs], outputs: { count: number } }
steps:
  ./steps/split.ts:
    env: { MODE: careful }
    secrets: { CRM_KEY: { secret: "${SECRET}" } }
`

let project: string
let made: Synthesized
/** Deployed over it since. */
const released: Synthesized[] = []
let place: Deployment
let caller: Caller

function write(files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(project, name)), { recursive: true })
    writeFileSync(join(project, name), text)
  }
}

const synthesized = () => synthesize({}, parseSettings(SETTINGS, 'sluice.yaml'), 'bundled', project)

beforeAll(async () => {
  project = mkdtempSync(join(tmpdir(), 'sluice-project-'))
  write({ 'steps/split.ts': SPLIT, 'steps/count.mjs': COUNT, 'dags/tickets.yaml': DOCUMENT })
  write({ 'steps/pay.ts': PAY, 'dags/paying.yaml': PAYING })
  made = await synthesized()
  place = await deploy(made.out, { [SECRET]: VALUE })
  caller = callerOf(place.api.url)
}, 300_000)
afterAll(async () => {
  await place.close()
  for (const one of [made, ...released]) one.remove()
  rmSync(project, { recursive: true, force: true })
})

const stepSandboxes = (name: string) => place.functions.get(stepFunction('dev', stepSlug(name)))
const start = (text: string) => caller.start({ name: 'tickets', inputs: { text } })

async function portValue(id: string, block: string, port: string) {
  const { json } = await caller.call('GET', `/api/dag/runs/${id}/outputs/${block}`)
  return (json.outputs as Readonly<Record<string, unknown>>)[port]
}

describe('a run of a project with steps', () => {
  test('runs a module, a program and a fan-out, each in its own function, and its gates judge what they made', async () => {
    const id = await start('a,b,c')
    const events = await caller.until(id, isEnd)
    expect(events.at(-1)).toMatchObject({ type: 'run:completed' })
    expect(await portValue(id, 'count', 'count')).toBe(3)
    expect(await portValue(id, 'split', 'rows')).toEqual(['a', 'b', 'c'])
    expect(stepSandboxes('./steps/split.ts')?.counts.invoked).toBe(4)
    expect(stepSandboxes('./steps/count')?.counts.invoked).toBe(1)
  })

  test('gives a step its environment and its secret, and nothing of its function; the secret is in no log', async () => {
    const id = await start('x')
    const events = await caller.until(id, isEnd)
    const seen = await portValue(id, 'split', 'seen')
    expect(seen).toMatchObject({ env: [], secret: true, set: 'careful', attempt: 1 })
    const output = events.find(({ type, block_id }) => type === 'block:output' && block_id === 'split')
    expect(output?.data).toMatchObject({ log: { tail: ['the secret is [redacted]'] } })
    expect(JSON.stringify(events)).not.toContain(VALUE)
  })

  test('keeps what a step wrote as artifacts', async () => {
    const id = await start('p,q')
    await caller.until(id, isEnd)
    const { json } = await caller.call('GET', `/api/dag/runs/${id}/artifacts`)
    expect(JSON.stringify(json)).toContain('rows.txt')
  })

  test('asks before it does again what may be done once only', async () => {
    const id = await caller.start({ name: 'paying', inputs: {} })
    const isAsked = ({ type }: { readonly type: string }) => type === 'approval:requested'
    const question = (await caller.until(id, isAsked)).find(isAsked)
    expect(question?.data).toMatchObject({ about: 'lost_step' })
    expect((await caller.decide(id, question, 'approve')).status).toBe(200)
    expect((await caller.until(id, isEnd)).at(-1)?.type).toBe('run:completed')
    expect(await portValue(id, 'pay', 'paid')).toBe(2)
  })

  test('goes on with the code it began with after another deployment, and the next run takes the new one', async () => {
    const asking = `${DOCUMENT.replace('retry: { max_attempts: 2 }', 'approval: { required: true, prompt: Go? }')}`
    write({ 'dags/asking.yaml': asking.replace('name: tickets', 'name: asking') })
    const before = await synthesized()
    await place.update(before.out)
    const id = await caller.start({ name: 'asking', inputs: { text: 'a' } })
    const asked = (await caller.until(id, ({ type }) => type === 'approval:requested')).find(
      ({ type }) => type === 'approval:requested',
    )
    write({ 'steps/split.ts': SPLIT.replace("inputs.text.split(',')", "['new', ...inputs.text.split(',')]") })
    const after = await synthesized()
    await place.update(after.out)
    expect((await caller.decide(id, asked, 'approve')).status).toBe(200)
    await caller.until(id, isEnd)
    expect(await portValue(id, 'split', 'rows')).toEqual(['a'])
    released.push(before, after)
  })

  test('a stop ends the step, and its function with it', async () => {
    const id = await start('wait')
    await caller.until(id, ({ type }) => type === 'step:started')
    const { status } = await caller.call('POST', `/api/dag/runs/${id}/stop`, { reason: 'enough' })
    expect(status).toBeLessThan(300)
    expect((await caller.until(id, isEnd)).at(-1)?.type).toBe('run:cancelled')
    await place.lambda.settled()
  })
})
