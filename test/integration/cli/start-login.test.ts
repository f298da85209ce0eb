import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { noTerminal } from '../../e2e/pseudo-terminal.ts'
import { sluice } from '../../e2e/run-cli.ts'
import { CTRL_C, typeOnTerminal } from '../../e2e/typed-terminal.ts'

// Each starts places and commands one after the other: a machine that does much else takes its time.
vi.setConfig({ testTimeout: 240_000 })

const CLI = join(import.meta.dirname, '../../../clients/cli/sluice.mjs')
let folder: string
let child: ChildProcess | undefined

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-login-'))
})
afterEach(async () => {
  if (child?.exitCode === null) {
    child.kill('SIGTERM')
    await once(child, 'exit')
  }
  rmSync(folder, { recursive: true })
})

/** What `sluice start` says until a line fits. */
async function started(settings: string, fits: RegExp, ...options: readonly string[]): Promise<string> {
  writeFileSync(join(folder, 'sluice.yaml'), settings)
  child = spawn(process.execPath, [CLI, 'start', '--port', '0', ...options], { cwd: folder, stdio: 'pipe' })
  let said = ''
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  await expect.poll(() => said, { timeout: 50_000 }).toMatch(fits)
  return said
}

test('a place that asks for tokens says where its first one lies, and with it answers', async () => {
  const said = await started('version: 1\nauth: {mode: token}\n', /SLUICE_TOKEN/)
  const file = /SLUICE_TOKEN=\$\(cat (.+)\)/.exec(said)?.[1] ?? ''
  expect(file).toBe(join(folder, '.sluice', 'first-token'))
  const url = /answers at (\S+)/.exec(said)?.[1] ?? ''
  expect(said).toContain(`Console: sluice console --url ${url}`)
  const ask = (token: string) =>
    fetch(`${url}/api/dag/runs`, { headers: token === '' ? {} : { authorization: `Bearer ${token}` } })
  expect((await ask('')).status).toBe(401)
  expect((await ask(readFileSync(file, 'utf8').trim())).status).toBe(200)
})

test('a program reads it from the one line', { tags: ['thorough'] }, async () => {
  const said = await started('version: 1\nauth: {mode: token}\n', /"ready":true.*\n/, '--json')
  expect(JSON.parse(said)).toMatchObject({
    login: 'token',
    first_tokens: [join(folder, '.sluice', 'first-token')],
  })
})

test('a place that asks for nothing says nothing of tokens', { tags: ['thorough'] }, async () => {
  const said = await started('version: 1\n', /Console: .*\n/)
  expect(said).not.toMatch(/token/i)
})

/** What a command of the same user says, from a folder. */
async function command(line: readonly string[], cwd: string, env: Readonly<Record<string, string>> = {}) {
  const { code, out, err } = await sluice(line, { cwd, env })
  return { code, out: out + err }
}

test('sluice start --login answers nobody who only knows the port', async () => {
  const ready = JSON.parse(await started('version: 1\n', /"ready":true.*\n/, '--json', '--login'))
  const { url, console_url, login_file } = ready
  expect(ready).toMatchObject({ login: 'secret', console_url: expect.stringContaining(`${url}/?login=`) })
  const [port] = /\d+$/.exec(url) ?? []
  expect(login_file).toBe(join(folder, '.sluice', `login-${port}`))
  expect(statSync(login_file).mode & 0o777).toBe(0o600)
  const secret = readFileSync(login_file, 'utf8').trim()
  const ask = (path: string, headers: Record<string, string> = {}, init: RequestInit = {}) =>
    fetch(`${url}${path}`, { headers, redirect: 'manual', ...init })
  const stranger = await ask('/api/dag/runs')
  expect([stranger.status, await stranger.json()]).toEqual([401, expect.objectContaining({ code: 'login_needed' })])
  for (const path of ['/api/health', '/api/openapi.json', '/api/dag/safety']) {
    expect([path, (await ask(path)).status]).toEqual([path, 401])
  }
  expect((await ask(`/api/objects/upload/${'a'.repeat(64)}`, {}, { method: 'PUT', body: 'x' })).status).toBe(401)
  // A page that anybody may load is worth nothing.
  const page = await ask('/')
  expect([page.headers.get('set-cookie')]).toEqual([null])
  expect((await ask('/?login=wrong')).status).toBe(401)
  expect((await ask(`/api/dag/runs?login=${secret}`)).status).toBe(401)
  for (const wrong of [`Bearer ${secret}x`, `Bearer ${secret.slice(1)}`, secret, 'Bearer ', `Basic ${secret}`]) {
    expect([wrong, (await ask('/api/dag/runs', { authorization: wrong })).status]).toEqual([wrong, 401])
  }
  expect((await ask('/api/dag/runs', { authorization: `Bearer ${secret}` })).status).toBe(200)

  const entered = await ask(new URL(console_url).pathname + new URL(console_url).search)
  expect([entered.status, entered.headers.get('location')]).toEqual([303, '/'])
  const cookie = entered.headers.get('set-cookie') ?? ''
  expect(cookie).toMatch(/; Path=\/api; HttpOnly; SameSite=Strict$/)
  expect(cookie).not.toContain(secret)
  const [held = ''] = cookie.split(';')
  expect((await ask('/api/dag/runs', { cookie: held })).status).toBe(200)
  for (const wrong of [`${held}0`, held.replace(/=.*/, '='), `x${held}`, held.replace(/=.*/, `=${secret}`)]) {
    expect([wrong, (await ask('/api/dag/runs', { cookie: wrong })).status]).toEqual([wrong, 401])
  }
  // As before: a cookie is of no use to a page of another site, or of another port of this machine.
  expect((await ask('/api/dag/runs', { cookie: held, 'sec-fetch-site': 'same-site' })).status).toBe(403)
  expect((await ask(`//evil.test/?login=${secret}`)).headers.get('location')).toBe('/evil.test/')

  // Commands of the same user find it, where they stand in the place's folder.
  expect(await command(['run', 'list', '--url', url], folder)).toMatchObject({ code: 0 })
  const away = join(folder, 'away')
  mkdirSync(away)
  const refused = await command(['run', 'list', '--url', url], away)
  expect([refused.code, refused.out]).toEqual([1, expect.stringContaining('login_needed')])

  child?.kill('SIGTERM')
  await once(child as ChildProcess, 'exit')
  expect(existsSync(login_file)).toBe(false)
})

test('every command of the same user finds the login, and sends it to no other port', {
  tags: ['thorough'],
}, async () => {
  const ready = JSON.parse(await started('version: 1\n', /"ready":true.*\n/, '--json', '--login'))
  const { url, console_url, login_file } = ready
  const shown = await command(['console', '--url', url, '--json'], folder)
  expect([shown.code, JSON.parse(shown.out)]).toEqual([0, { url: console_url }])
  const begun = await command(['run', 'start', '--example', 'basic', '--input', 'goal=x', '--url', url], folder)
  expect(begun.code).toBe(0)
  const completed = await command(['complete', 'zsh', '--', 'run', 'status', ''], folder, { SLUICE_URL: url })
  expect(completed.out).toContain('basic')
  const away = join(folder, 'away')
  mkdirSync(away)
  expect(await command(['console', '--url', url], away)).toMatchObject({
    code: 1,
    out: expect.stringContaining('login_needed'),
  })
  const secret = readFileSync(login_file, 'utf8').trim()
  expect(await command(['run', 'list', '--url', url], away, { SLUICE_TOKEN: secret })).toMatchObject({ code: 0 })
})

test('what a killed start left is gone at the next, and opens nothing', { tags: ['thorough'] }, async () => {
  mkdirSync(join(folder, '.sluice'), { mode: 0o700 })
  writeFileSync(join(folder, '.sluice', 'login-4999'), 'old\n')
  const said = await started('version: 1\n', /Console: .*\n/, '--login')
  expect(said).toMatch(/Console: http:\/\/127\.0\.0\.1:\d+\/\?login=\S+\n/)
  expect(said).toContain('SLUICE_TOKEN=$(cat ')
  expect(readdirSync(join(folder, '.sluice')).filter((name) => name.startsWith('login-'))).toEqual([
    `login-${/answers at http:\/\/127\.0\.0\.1:(\d+)/.exec(said)?.[1]}`,
  ])
})

/** Only root can give a terminal to somebody else. */
const cannotGive = process.getuid?.() !== 0 || noTerminal() !== undefined

/** What a start shows on a terminal. */
async function on(line: string): Promise<string> {
  writeFileSync(join(folder, 'sluice.yaml'), 'version: 1\n')
  const types = [['Console: ', CTRL_C]] as const
  const env = { SLUICE_URL: '', SLUICE_TOKEN: '' }
  return (await typeOnTerminal(['bash', '--norc', '-c', line], { cwd: folder, env, types })).shown
}
const START = `exec "${process.execPath}" "${CLI}" start --port 0`

describe.skipIf(cannotGive)('the login is the default', () => {
  test('on a terminal of another user', { tags: ['thorough'] }, async () => {
    expect(await on(`chown 12345 "$(tty)"; ${START}`)).toMatch(/Console: http:\/\/127\.0\.0\.1:\d+\/\?login=/)
  })

  test('not on one of their own, not where it is refused, and not without one', { tags: ['thorough'] }, async () => {
    expect(await on(START)).not.toContain('?login=')
    expect(await on(`chown 12345 "$(tty)"; ${START} --no-login`)).not.toContain('?login=')
    expect(await on(`chown 12345 "$(tty)"; ${START} < /dev/null`)).not.toContain('?login=')
  })
})

/** A command that starts a place for itself and waits in it for an answer; `run` and `url` as it says them. */
async function waiting() {
  writeFileSync(join(folder, 'ask.yaml'), ASKING)
  child = spawn(process.execPath, [CLI, 'run', 'start', 'ask.yaml'], {
    ...{ cwd: folder, stdio: 'pipe' },
    env: { ...process.env, SLUICE_URL: '', SLUICE_TOKEN: '' },
  })
  let said = ''
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  await expect.poll(() => said, { timeout: 50_000 }).toMatch(/run approve/)
  const [, run = '', url = ''] = /^Run (\S+) at (\S+), in this process/m.exec(said) ?? []
  return { run, url }
}

test('a place that a command starts for itself answers no other program', { tags: ['thorough'] }, async () => {
  const { run, url } = await waiting()
  expect((await fetch(`${url}/api/dag/runs/${run}`)).status).toBe(401)
})

test('a place that a command starts for itself answers the commands of its user', { tags: ['thorough'] }, async () => {
  const { run, url } = await waiting()
  expect(await command(['run', 'approve', run, '--yes', '--url', url], folder)).toMatchObject({ code: 0 })
  const [code] = await once(child as ChildProcess, 'exit')
  expect(code).toBe(0)
})

const ASKING = `
name: ask
blocks:
  - id: go
    mode: deterministic
    deterministic: { handler: transform, config: { expression: '"shipped"' } }
    outputs: { text: { type: string } }
    approval: { required: true, prompt: "Ship it?" }
`
