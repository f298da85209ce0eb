import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir, userInfo } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { firstDaily } from '../how-much.ts'
import { readEvents, type SseMessage } from './sse-client.ts'

const MAIN = resolve(import.meta.dirname, '../../infra/local/main.ts')

interface Ready {
  readonly ready: boolean
  readonly url?: string
  readonly pid?: number
  readonly data_dir?: string
  readonly error?: { readonly code: string; readonly message: string }
}

let dir: string
const started: ChildProcess[] = []

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'sluice-process-'))
})

afterAll(() => {
  for (const child of started) child.kill('SIGKILL')
  rmSync(dir, { recursive: true })
})

/** Starts the place in `cwd` and answers its one line. */
async function start(args: readonly string[], cwd = dir, env: Record<string, string> = {}) {
  const child = spawn(process.execPath, [MAIN, ...args], {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  started.push(child)
  const exit = once(child, 'exit').then(([code]) => code as number | null)
  const [line] = await once(createInterface({ input: child.stdout }), 'line')
  return { child, exit, answer: JSON.parse(String(line)) as Ready }
}

describe('the place as a process', () => {
  /** One that several tests ask. */
  let serving: Awaited<ReturnType<typeof start>>
  let stderr = ''
  const told = () => stderr
  beforeAll(async () => {
    serving = await start(['--port', '0', '--data-dir', 'serving'], dir, { SLUICE_LOG: 'info' })
    serving.child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      stderr += text
    })
  })

  for (const { tags, rows } of firstDaily<'SIGTERM' | 'SIGINT'>(1, ['SIGTERM', 'SIGINT']))
    it.each(rows)('says where it serves, and ends cleanly on %s', { tags }, async (signal) => {
      const { child, exit, answer } = await start(['--port', '0', '--data-dir', 'clean'])
      expect(answer).toMatchObject({ ready: true, pid: child.pid, data_dir: join(dir, 'clean') })
      const stream = fetch(`${answer.url}/api/health`)
      expect((await stream).status).toBe(200)
      child.kill(signal)
      expect(await exit).toBe(0)
    })

  it.skipIf(process.platform !== 'linux')(
    'leaves its folder to others though the disk refuses its last words',
    async () => {
      const { child, exit, answer } = await start(['--port', '0', '--data-dir', 'refused'])
      const dag = { name: 'waits', blocks: [{ id: 'a', mode: 'wait', wait: { for: '1h' } }] }
      const begin = () =>
        fetch(`${answer.url}/api/dag/run`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ dag }),
        })
      expect((await begin()).status).toBe(201)
      // No file may grow beyond that: what SQLite writes then is refused by the operating system.
      execFileSync('prlimit', ['--pid', String(child.pid), '--fsize=100'])
      expect((await begin()).status).toBe(503)
      child.kill('SIGTERM')
      // 1 where something was left to write, 0 where not: that is a matter of moments.
      expect([0, 1]).toContain(await exit)
      expect(readdirSync(join(dir, 'refused'))).not.toEqual(expect.arrayContaining(['lock.pid']))
      expect(readdirSync(join(dir, 'refused'))).not.toEqual(expect.arrayContaining(['address']))
    },
  )

  it('says on standard error, with SLUICE_LOG=info, what is asked and what runs do', async () => {
    const { answer } = serving
    const body = JSON.stringify({ example: 'basic', inputs: { goal: 'x' } })
    const post = { method: 'POST', headers: { 'content-type': 'application/json' }, body }
    const { run_id } = (await (await fetch(`${answer.url}/api/dag/run`, post)).json()) as { run_id: string }
    await fetch(`${answer.url}/api/dag/runs/${run_id}`)
    await fetch(`${answer.url}/nowhere?secret=1`)
    await expect.poll(told).toMatch(/"run ended"/)
    const said = told()
    const facts = said
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>)
    const ms = expect.any(Number)
    const principal = `user:${userInfo().username}`
    expect(facts).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ message: 'run started', run_id, dag_name: 'basic' }),
        expect.objectContaining({
          message: 'request',
          method: 'POST',
          route: '/api/dag/run',
          principal,
          status: 201,
          ms,
        }),
        expect.objectContaining({ message: 'request', route: '/api/dag/runs/{run_id}', run_id, status: 200, ms }),
        expect.objectContaining({ message: 'request', method: 'GET', status: 404, ms }),
        expect.objectContaining({ message: 'run ended', run_id, execution: 'SUCCEEDED' }),
      ]),
    )
    expect(said).not.toContain('secret')
  })

  it('refuses a folder that is in use, naming the process', { tags: ['thorough'] }, async () => {
    const first = serving
    const second = await start(['--port', '0', '--data-dir', 'serving'])
    expect(second.answer.error?.code).toBe('folder_in_use')
    expect(second.answer.error?.message).toContain(`process ${first.child.pid}`)
    expect(await second.exit).toBe(1)
    expect((await fetch(`${first.answer.url}/api/health`)).status).toBe(200)
  })

  it('lets exactly one of several that start together have the folder', { tags: ['thorough'] }, async () => {
    const all = await Promise.all(Array.from({ length: 4 }, () => start(['--port', '0', '--data-dir', 'race'])))
    expect(all.filter(({ answer }) => answer.ready)).toHaveLength(1)
    expect(all.filter(({ answer }) => answer.error?.code === 'folder_in_use')).toHaveLength(3)
  })

  it('refuses a port that is taken, naming it, and leaves the folder free', { tags: ['thorough'] }, async () => {
    const taken = createServer().listen(0, '127.0.0.1')
    await once(taken, 'listening')
    const address = taken.address()
    const port = String(typeof address === 'object' && address !== null ? address.port : 0)
    const refused = await start(['--port', port, '--data-dir', 'port'])
    expect(refused.answer.error?.code).toBe('port_taken')
    expect(refused.answer.error?.message).toContain(port)
    expect(await refused.exit).toBe(1)
    taken.close()
    expect((await start(['--port', port, '--data-dir', 'port'])).answer.ready).toBe(true)
  })

  it('reads sluice.yaml of the working folder, and says where it is wrong', async () => {
    const cwd = join(dir, 'configured')
    mkdirSync(cwd)
    writeFileSync(join(cwd, 'sluice.yaml'), 'port: 0\nsafety:\n  max_attempts: 2\n')
    const { answer } = await start([], cwd)
    expect(answer.data_dir).toBe(join(cwd, '.sluice'))
    const safety = (await (await fetch(`${answer.url}/api/dag/safety`)).json()) as { policy: Record<string, unknown> }
    expect(safety.policy.max_attempts).toEqual({ value: 2, source: 'sluice.yaml' })
    writeFileSync(join(cwd, 'sluice.yaml'), 'port: 0\nsafety:\n  max_attempts: none\n')
    const wrong = await start(['--data-dir', 'elsewhere'], cwd)
    expect(wrong.answer.error?.code).toBe('bad_settings')
    expect(wrong.answer.error?.message).toContain('sluice.yaml:3:3: safety.max_attempts')
    expect(await wrong.exit).toBe(1)
  })

  const wrong = [
    { args: ['--port', '70000'] },
    { args: ['--nothing'] },
    { args: ['--port', 'x'] },
    { args: ['file.yaml'] },
  ]
  for (const { tags, rows } of firstDaily(1, wrong))
    it.each(rows)('refuses unknown arguments and a port that is none: $args', { tags }, async ({ args }) => {
      const { answer, exit } = await start(args)
      expect([answer.error?.code, await exit]).toEqual(['bad_argument', 1])
    })

  it('refuses an unknown log level', { tags: ['thorough'] }, async () => {
    const { answer } = await start(['--port', '0'], dir, { SLUICE_LOG: 'loud' })
    expect(answer.error?.code).toBe('bad_settings')
  })

  it('serves the documents of the package with --example, without a sluice.yaml', async () => {
    const cwd = join(dir, 'example')
    mkdirSync(cwd)
    writeFileSync(join(cwd, 'sluice.yaml'), 'broken: [')
    const { answer } = await start(['--example', '--port', '0'], cwd)
    const config = (await (await fetch(`${answer.url}/api/config`)).json()) as { documents: string[] }
    expect(config.documents).toContain('basic')
  })

  it('loses nothing to kill -9: the run waits on, and completed blocks are not run again', {
    tags: ['thorough'],
  }, async () => {
    const args = ['--port', '0', '--data-dir', 'survives']
    const first = await start(args)
    const { run_id } = await post<{ run_id: string }>(`${first.answer.url}/api/dag/run`, { dag: ASKING })
    const path = `/api/dag/runs/${run_id}`
    const asked = (await readEvents(`${first.answer.url}${path}/events`, {}, hasAsked)).find(
      ({ event }) => event === ASKED,
    )
    first.child.kill('SIGKILL')
    await first.exit
    const second = await start(args)
    const { digest } = (asked?.data.data ?? {}) as { digest?: string }
    await post(`${second.answer.url}${path}/approvals`, { decision: 'approve', digest })
    const events = await readEvents(`${second.answer.url}${path}/events`)
    expect(events.map(({ id }) => id)).toEqual(events.map((_, n) => n + 1))
    expect(events.at(-1)?.event).toBe('run:completed')
    const started = events.filter(({ event }) => event === 'block:started').map(({ data }) => data.block_id)
    expect(started).toEqual(['first', 'publish'])
  })

  // The last one: nobody serves any more then.
  it('takes the folder of a killed process at once, whatever its pid file says', async () => {
    const first = serving
    first.child.kill('SIGKILL')
    await first.exit
    // The worst leftover: the pid now belongs to somebody who lives.
    writeFileSync(join(dir, 'serving', 'lock.pid'), String(process.pid))
    const second = await start(['--port', '0', '--data-dir', 'serving'])
    expect(second.answer.ready).toBe(true)
    expect(readFileSync(join(dir, 'serving', 'lock.pid'), 'utf8')).toBe(String(second.child.pid))
  })
})

const ASKED = 'approval:requested'
const ASKING = {
  blocks: [
    {
      id: 'first',
      outputs: { text: 'string' },
      agent: { provider: 'local', model: 'outline', prompt: 'Say something.' },
    },
    {
      id: 'publish',
      inputs: { text: { from: 'first.text' } },
      outputs: { text: 'string' },
      agent: { provider: 'local', model: 'outline', prompt: 'Publish {{inputs.text}}' },
      approval: { required: true, prompt: 'Publish it?' },
    },
  ],
}

function hasAsked(seen: readonly SseMessage[]): boolean {
  return seen.some(({ event }) => event === ASKED)
}

async function post<T>(url: string, body: unknown): Promise<T> {
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
  expect(response.ok, url).toBe(true)
  return (await response.json()) as T
}
