import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sluice, startSluice } from '../../e2e/run-cli.ts'

/** Commands find the runs of the project they stand in: through its server where one is open, else in its data folder. */
const BIN = join(import.meta.dirname, '../../../clients/cli/sluice.mjs')
const NOTE = `
blocks:
  - id: write
    mode: deterministic
    outputs: { text: string }
    deterministic: { handler: transform, config: { expression: '"Dear reader"' } }
`
const ASK = NOTE.replace('id: write', 'id: write\n    approval: { prompt: "Write it?" }')

let folder = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-folder-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** A project whose settings name a folder, and a port nobody has. */
function project(settings = 'data_dir: kept\nport: 9\n') {
  const cwd = mkdtempSync(join(folder, 'p-'))
  mkdirSync(join(cwd, 'dags'))
  writeFileSync(join(cwd, 'sluice.yaml'), settings)
  writeFileSync(join(cwd, 'dags/note.yaml'), NOTE)
  writeFileSync(join(cwd, 'dags/ask.yaml'), ASK)
  const run = (...args: string[]) => sluice(args, { cwd })
  return { cwd, run }
}

/** One project with a run that has finished, for all that only look at such a run. */
let shared: Promise<{ readonly made: ReturnType<typeof project>; readonly id: string }> | undefined
function withFinished() {
  shared ??= (async () => {
    const made = project()
    return { made, id: await finished(made) }
  })()
  return shared
}

/** One project whose run waits for a person, and whose server has ended. */
let asking: ReturnType<typeof openAndAsk> | undefined
function withWaiting() {
  asking ??= openAndAsk()
  return asking
}

async function openAndAsk() {
  const made = project()
  const place = await startSluice(['start', '--json', '--port', '0'], made.cwd, 'keep')
  const { out } = await made.run('run', 'start', 'dags/ask.yaml', '--json')
  const id: string = JSON.parse(out).run_id
  const approvals = async () => JSON.parse((await made.run('approvals', 'list', '--json')).out).approvals
  await expect.poll(approvals).toHaveLength(1)
  const events = (await made.run('run', 'events', id, '--json')).out
  await place.stop('SIGTERM')
  return { made, id, events }
}

async function finished({ run }: ReturnType<typeof project>): Promise<string> {
  const { out } = await run('run', 'start', 'dags/note.yaml', '--yes', '--json')
  return JSON.parse(out).run.run_id
}

describe('without a server', () => {
  test('runs are listed and read in the folder of the settings', async () => {
    const { made, id } = await withFinished()
    expect(existsSync(join(made.cwd, 'kept/sluice.db'))).toBe(true)
    const list = await made.run('run', 'list')
    expect(list).toMatchObject({ code: 0, err: '', out: expect.stringContaining(`${id}  completed`) })
    expect((await made.run('run', 'output', id)).out).toBe('--- write.text\nDear reader\n')
    // Nobody else is shown a way in, and the folder is free again.
    expect(readdirSync(join(made.cwd, 'kept')).filter((name) => /^(address|login-|lock\.pid)/.test(name))).toEqual([])
  })

  test('runs are shown, verified and drawn in the folder of the settings', { tags: ['thorough'] }, async () => {
    const { made, id } = await withFinished()
    expect((await made.run('run', 'show', id)).out).toMatch(/✓ write +completed/)
    expect(await made.run('run', 'verify', id)).toMatchObject({ code: 0 })
    expect(JSON.parse((await made.run('run', 'graph', id, '--json')).out).nodes).toHaveLength(1)
  })

  test('no run goes on while somebody looks', { tags: ['thorough'] }, async () => {
    const { made, id, events } = await withWaiting()
    const look = await made.run('run', 'status', id)
    expect(look).toMatchObject({ code: 0, err: '', out: expect.stringMatching(/\? write +approval/) })
    expect((await made.run('run', 'events', id, '--json')).out).toBe(events)
  })

  test('nor while several look, who may do so at once', { tags: ['thorough'] }, async () => {
    const { made, id, events } = await withWaiting()
    const looks = await Promise.all([
      made.run('run', 'status', id),
      made.run('run', 'list'),
      made.run('approvals', 'list'),
    ])
    expect(looks.map(({ code, err }) => ({ code, err }))).toEqual(Array(3).fill({ code: 0, err: '' }))
    expect((await made.run('run', 'events', id, '--json')).out).toBe(events)
  })

  test('a folder of no runs is not made, and what changes something still needs a server', async () => {
    const made = project()
    expect(await made.run('run', 'list')).toMatchObject({ code: 1, err: expect.stringContaining('no_server') })
    expect(existsSync(join(made.cwd, 'kept'))).toBe(false)
    const { made: other, id } = await withFinished()
    expect(await other.run('run', 'stop', id)).toMatchObject({ code: 1, err: expect.stringContaining('no_server') })
  })

  test('whose login the settings ask for reads what is theirs', { tags: ['thorough'] }, async () => {
    const made = project('data_dir: kept\nport: 9\nauth: { mode: token }\n')
    const id = await finished(made)
    expect((await made.run('run', 'list')).out).toContain(id)
  })
})

describe('while a server is open on the folder', () => {
  test('commands find it, whatever port it was given', async () => {
    const { made, id } = await withFinished()
    const place = await startSluice(['start', '--port', '0', '--json'], made.cwd, 'keep')
    expect((await made.run('run', 'list')).out).toContain(id)
    expect((await made.run('run', 'start', 'dags/note.yaml')).out).toContain(`at ${place.first.url}`)
    expect(await place.stop('SIGTERM')).toBe(0)
    expect(existsSync(join(made.cwd, 'kept/address'))).toBe(false)
  })

  test('they go by the port of the settings', async () => {
    const free = await freePort()
    const made = project(`data_dir: kept\nport: ${free}\n`)
    const place = await startSluice(['start', '--json'], made.cwd, 'keep')
    expect(place.first.url).toBe(`http://127.0.0.1:${free}`)
    rmSync(join(made.cwd, 'kept/address'))
    expect((await made.run('run', 'list')).out).toBe('No runs.\n')
    await place.stop('SIGTERM')
  })

  test('a run in the foreground elsewhere is looked at, and nothing is started in its place', {
    tags: ['thorough'],
  }, async () => {
    const made = project()
    const child = spawn(process.execPath, [BIN, 'run', 'start', 'dags/ask.yaml'], {
      ...{ cwd: made.cwd, stdio: ['ignore', 'pipe', 'inherit'], env: { ...process.env, SLUICE_URL: '' } },
    })
    let said = ''
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      said += text
    })
    const ended = once(child, 'close')
    await expect.poll(() => said).toContain('waits for a person')
    const id = /run_\w{26}/.exec(said)?.[0] ?? ''
    expect((await made.run('run', 'list')).out).toContain(id)
    const other = await made.run('run', 'start', 'dags/note.yaml')
    expect(other).toMatchObject({ code: 1, err: expect.stringContaining('[folder_in_use]') })
    expect(await made.run('run', 'approve', id, '--yes')).toMatchObject({ code: 0 })
    expect(await ended).toEqual([0, null])
  })

  test('who holds the folder and answers nobody is named', async () => {
    const { made } = await withFinished()
    const lock = new DatabaseSync(join(made.cwd, 'kept/lock'))
    lock.exec('PRAGMA journal_mode = OFF; BEGIN EXCLUSIVE')
    writeFileSync(join(made.cwd, 'kept/lock.pid'), '4711')
    const { code, err } = await made.run('run', 'list')
    lock.close()
    expect(code).toBe(1)
    expect(err).toMatch(
      /process 4711 is using it.*No server answers at http:\/\/127\.0\.0\.1:9 either.*\[folder_in_use\]/,
    )
  })
})

async function freePort(): Promise<number> {
  const { createServer } = await import('node:net')
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  return typeof address === 'object' && address !== null ? address.port : 0
}
