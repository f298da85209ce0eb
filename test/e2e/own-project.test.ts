import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findContainerEngine } from '../../infra/local/containers.ts'
import { writeContainerEngine } from '../emulators/container-engine.ts'
import { type Started, sluice, startSluice } from './run-cli.ts'

/**
 * A project of its own, outside of the repository, with every kind of own code there is: a module, a program, a service
 * that calls back, a function of AWS with a stand-in, a container, a wait for an event, a gate. Its place is killed with SIGKILL inside
 * each, and started again on what the dead one left; then a run is stopped inside each, and one runs out of time.
 */
const HELD = `
import { writeFileSync, existsSync } from 'node:fs'
/** The first attempt says that it is here, and goes no further until somebody lets it. */
export async function hold(name, attempt) {
  writeFileSync(process.env.OUT + '/began-' + name + '-' + attempt, String(process.pid))
  while (existsSync(process.env.OUT + '/hold-' + name)) await new Promise((resolve) => setTimeout(resolve, 20))
}
`
const FILES = {
  'steps/hold.mjs': HELD,
  'steps/split.ts': `
import { defineStep } from 'sluice'
import * as z from 'zod'
import { hold } from './hold.mjs'
export default defineStep({
  inputs: z.object({ text: z.string() }),
  outputs: z.object({ words: z.array(z.string()) }),
  async run({ inputs, attempt, progress }) {
    progress(0.5, 'half')
    await hold('split', attempt)
    return { words: inputs.text.split(' ') }
  },
})
`,
  'steps/count.mjs': `
import { hold } from './hold.mjs'
let text = ''
for await (const piece of process.stdin) text += piece
const { inputs, attempt } = JSON.parse(text)
await hold('count', attempt)
process.stdout.write(JSON.stringify({ count: inputs.words.length }))
`,
  'steps/price.ts': `
import { defineStep } from 'sluice'
import * as z from 'zod'
import { hold } from './hold.mjs'
export default defineStep({
  inputs: z.object({ call: z.string(), parameters: z.any() }),
  outputs: z.object({ price: z.number() }),
  async run({ inputs, attempt }) {
    await hold('price', attempt)
    return { price: inputs.parameters.count * 2 }
  },
})
`,
  'containers/pack.mjs': `
import { readFileSync, writeFileSync } from 'node:fs'
import { hold } from '../steps/hold.mjs'
const [sluice] = process.argv.slice(2)
const { inputs, attempt } = JSON.parse(readFileSync(sluice + '/input.json', 'utf8'))
await hold('pack', attempt)
writeFileSync(sluice + '/artifacts/label.txt', 'price ' + inputs.price)
writeFileSync(sluice + '/output.json', JSON.stringify({ label: 'artifacts/label.txt', boxes: inputs.price + 1 }))
`,
  'gates/no-competitors.ts': `
import { defineGate } from 'sluice'
import * as z from 'zod'
export default defineGate({
  params: z.strictObject({ port: z.string(), names: z.array(z.string()) }),
  reads: ({ port }) => [port],
  check({ params, port }) {
    const found = params.names.filter((name) => JSON.stringify(port(params.port)).includes(name))
    return { passed: found.length === 0, reason: found.length === 0 ? 'names none' : 'names ' + found.join(', ') }
  },
})
`,
  'dags/order.yaml': `
name: order
inputs: { text: string, order: string }
blocks:
  - id: split
    mode: deterministic
    deterministic: { handler: ./steps/split.ts }
    inputs: { text: string }
    post_gates:
      - { name: fair, check: { type: ./gates/no-competitors.ts, port: words, names: [Acme] }, on_fail: fail }
  - id: count
    mode: deterministic
    deterministic: { handler: ./steps/count }
    inputs: { words: { from: split.words } }
  - id: price
    mode: deterministic
    deterministic: { handler: lambda, config: { function: price, payload: { count: "{{inputs.count}}" } } }
    inputs: { count: { from: count.count } }
    outputs: { price: number }
  - id: pack
    mode: deterministic
    deterministic: { handler: container, config: { container: packer } }
    inputs: { price: { from: price.price } }
    outputs: { label: file, boxes: number }
  - id: ask
    mode: deterministic
    deterministic:
      handler: http
      config: { service: shop, method: POST, path: /orders, body: { price: "{{inputs.price}}", reply_to: "{{inputs.reply_to}}" } }
    inputs: { price: { from: price.price }, boxes: { from: pack.boxes }, reply_to: { from: answer.callback_url } }
    outputs: { status: number }
  - id: answer
    mode: wait
    wait: { callback: true, timeout: 1h }
    outputs: { accepted: boolean }
  - id: paid
    mode: wait
    inputs: { order: string }
    wait: { event: { name: order.paid, key: "{{inputs.order}}" }, timeout: 1h }
    outputs: { amount: number }
edges:
  - { from: ask, to: answer }
  - { from: answer, to: paid }
`,
}

let project: string
/** Where a command that stands for docker keeps what it runs: no machine of these tests has to have a Docker. */
let engine: string
let place: Started
let shop: Server
const callbacks: string[] = []
const out = (name: string) => join(project, 'out', name)

function settings(url: string): string {
  const env = `env: { OUT: ${JSON.stringify(join(project, 'out'))} }`
  return `
programs:
  ./steps/count: { exec: [${JSON.stringify(process.execPath)}, steps/count.mjs], files: [steps/hold.mjs], outputs: { count: number } }
steps:
  ./steps/split.ts: { ${env} }
  ./steps/count: { ${env} }
  ./steps/price.ts: { ${env} }
functions:
  price: { arn: "arn:aws:lambda:eu-central-1:123456789012:function:price", local: ./steps/price.ts }
container_engine: ${JSON.stringify(join(engine, 'docker'))}
containers:
  packer: { image: ${JSON.stringify(join(project, 'containers', 'pack.mjs').slice(1))}, ${env} }
services:
  shop: { url: "${url}", private: true }
`
}

beforeAll(async () => {
  project = mkdtempSync(join(tmpdir(), 'sluice-own-project-'))
  engine = mkdtempSync(join(tmpdir(), 'sluice-engine-'))
  writeContainerEngine(engine)
  shop = createServer(async (request, response) => {
    let text = ''
    for await (const piece of request) text += piece
    callbacks.push(JSON.parse(text).reply_to)
    response.writeHead(202, { 'content-type': 'application/json' }).end('{}')
  })
  await new Promise<void>((resolve) => void shop.listen(0, '127.0.0.1', () => resolve()))
  const address = shop.address()
  const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`
  for (const [name, text] of Object.entries({ ...FILES, 'sluice.yaml': settings(url), 'out/.keep': '' })) {
    mkdirSync(dirname(join(project, name)), { recursive: true })
    writeFileSync(join(project, name), text)
  }
  place = await startPlace()
}, 60_000)
afterAll(async () => {
  await place?.stop('SIGTERM')
  shop.close()
  rmSync(project, { recursive: true, force: true })
  rmSync(engine, { recursive: true, force: true })
})

const startPlace = () => startSluice(['start', '--port', '0', '--json'], project, 'keep')

/** The server itself: nobody says goodbye. Another one takes up what it left. */
async function killPlace(): Promise<void> {
  process.kill(Number(place.first.pid), 'SIGKILL')
  await place.ended
  place = await startPlace()
}

async function call(path: string, body?: unknown): Promise<Record<string, never>> {
  const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
  const response = await fetch(`${String(place.first.url)}/api${path}`, body === undefined ? {} : init)
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
  return (await response.json()) as Record<string, never>
}

async function until<T>(what: string, look: () => Promise<T | undefined> | T | undefined): Promise<T> {
  for (const late = Date.now() + 60_000; Date.now() < late; await pause(30)) {
    const found = await look()
    if (found !== undefined) return found
  }
  throw new Error(`${what} did not come`)
}

const began = (name: string, attempt: number) =>
  until(`attempt ${attempt} of ${name}`, () => (existsSync(out(`began-${name}-${attempt}`)) ? true : undefined))
const hold = (name: string) => writeFileSync(out(`hold-${name}`), '')
const letGo = (name: string) => rmSync(out(`hold-${name}`), { force: true })
function forget(): void {
  for (const name of readdirSync(join(project, 'out'))) rmSync(out(name), { force: true })
  callbacks.length = 0
}

interface Shown {
  readonly run: { readonly state: string; readonly reason?: string }
  readonly blocks: Readonly<Record<string, { readonly state: string; readonly attempt: number }>>
}
const shown = async (id: string) => (await call(`/dag/runs/${id}`)) as unknown as Shown
const start = async (inputs: object) => String((await call('/dag/run', { name: 'order', inputs })).run_id)
const blockIs = (id: string, block: string, state: string) =>
  until(`${block} ${state}`, async () => {
    const { run, blocks } = await shown(id)
    // What has ended comes no further.
    if (run.state !== 'running' && run.state !== 'waiting') throw new Error(`${run.state}: ${run.reason}`)
    return blocks[block]?.state === state ? true : undefined
  })
const ended = (id: string) =>
  until(`the end of ${id}`, async () => {
    const now = await shown(id)
    return now.run.state === 'running' || now.run.state === 'waiting' ? undefined : now
  })

/** Blocks whose work is a process: a module, a program, what stands in for a function, a container. */
const HELD_KINDS = ['split', 'count', 'price', 'pack'] as const

describe('a project with code of its own', { tags: ['thorough'] }, () => {
  test('is found right without a server', async () => {
    const { code, out: said, err } = await sluice(['validate'], { cwd: project })
    expect([code, said + err]).toEqual([0, expect.stringContaining('dags/order.yaml')])
  })

  test('is killed inside each of its kinds of work, and what was lost is made again', async () => {
    forget()
    for (const name of HELD_KINDS) hold(name)
    const id = await start({ text: 'one two three', order: '4711' })
    for (const name of HELD_KINDS) {
      await began(name, 1)
      const pid = Number(await until('its process', () => readPid(`began-${name}-1`)))
      await killPlace()
      // Nothing of the lost attempt goes on beside the next one, though nobody was left to end it.
      await until(`the end of attempt 1 of ${name}`, () => (isAlive(pid) ? undefined : true))
      letGo(name)
      await began(name, 2)
    }
    // Nothing of it runs while it waits: a place that dies then loses nothing.
    await blockIs(id, 'answer', 'running')
    const [url = ''] = callbacks
    await killPlace()
    const path = new URL(url).pathname
    expect(await call(path.replace('/api', ''), { accepted: true })).toMatchObject({})
    await expect(call(path.replace('/api', ''), { accepted: false })).rejects.toThrow(/409/)
    await blockIs(id, 'paid', 'running')
    await killPlace()
    await call('/events', { name: 'order.paid', key: '4712', payload: { amount: 1 } })
    await call('/events', { name: 'order.paid', key: '4711', payload: { amount: 12 } })
    expect((await ended(id)).run).toMatchObject({ state: 'completed' })
    expect(await call(`/dag/runs/${id}/outputs/price`)).toMatchObject({ outputs: { price: 6 } })
    expect(await call(`/dag/runs/${id}/outputs/pack`)).toMatchObject({
      outputs: { boxes: 7, label: expect.stringMatching(/^objstore:/) },
    })
    expect(await call(`/dag/runs/${id}/outputs/paid`)).toMatchObject({ outputs: { amount: 12 } })
    const verified = await call(`/dag/runs/${id}/verify`)
    expect(verified).toMatchObject({ ok: true })
  })

  test.each(HELD_KINDS)('is stopped inside %s, whose process ends', async (name) => {
    forget()
    hold(name)
    const id = await start({ text: 'a b', order: '1' })
    await began(name, 1)
    await call(`/dag/runs/${id}/stop`, { reason: 'enough' })
    expect((await ended(id)).run.state).toBe('cancelled')
    const pid = Number(await until('its process', () => readPid(`began-${name}-1`)))
    await until('the end of its process', () => (isAlive(pid) ? undefined : true))
  })

  test('is stopped while it waits', async () => {
    forget()
    const id = await start({ text: 'a b', order: '2' })
    await blockIs(id, 'answer', 'running')
    await call(`/dag/runs/${id}/stop`, { reason: 'enough' })
    expect((await ended(id)).run.state).toBe('cancelled')
  })

  test('is refused where nothing runs containers, with the reason and what to do', async () => {
    const other = mkdtempSync(join(tmpdir(), 'sluice-no-engine-'))
    const document = `
name: packs
blocks: [{ id: pack, mode: deterministic, deterministic: { handler: container, config: { container: packer } }, outputs: { boxes: number } }]
`
    const validated = async (container_engine: string | undefined) => {
      const engines = container_engine === undefined ? '' : `container_engine: ${JSON.stringify(container_engine)}\n`
      mkdirSync(join(other, 'dags'), { recursive: true })
      writeFileSync(join(other, 'sluice.yaml'), `${engines}containers: { packer: { image: acme/packer:1 } }\n`)
      writeFileSync(join(other, 'dags', 'packs.yaml'), document)
      const { code, out: said, err } = await sluice(['validate'], { cwd: other })
      return { code, words: said + err }
    }
    const missing = await validated(join(other, 'no-docker'))
    expect(missing).toMatchObject({
      code: 100,
      words: expect.stringMatching(/no-docker does not answer "version" within a second/),
    })
    expect(missing.words).toMatch(/Install Docker or Podman, or name what stands in for it/)
    // Of this machine itself: it has one of the two, or is told that it has none.
    const own = await validated(undefined)
    const isThere = 'command' in (await findContainerEngine({ container_engine: undefined }))
    expect(own.code).toBe(isThere ? 0 : 100)
    if (!isThere) expect(own.words).toContain('neither docker nor podman answers "version" within a second')
    rmSync(other, { recursive: true, force: true })
  })

  test('is refused by its own gate', async () => {
    forget()
    const id = await start({ text: 'like Acme', order: '3' })
    expect((await ended(id)).run).toMatchObject({ state: 'failed', reason: expect.stringContaining('names Acme') })
  })
})

function readPid(name: string): string | undefined {
  const text = existsSync(out(name)) ? readFileSync(out(name), 'utf8') : ''
  return text === '' ? undefined : text
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
