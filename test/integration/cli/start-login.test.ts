import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'

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
  await expect.poll(() => said, { timeout: 20_000 }).toMatch(fits)
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

test('a program reads it from the one line', async () => {
  const said = await started('version: 1\nauth: {mode: token}\n', /"ready":true.*\n/, '--json')
  expect(JSON.parse(said)).toMatchObject({
    login: 'token',
    first_tokens: [join(folder, '.sluice', 'first-token')],
  })
})

test('a place that asks for nothing says nothing of tokens', async () => {
  const said = await started('version: 1\n', /Other commands find it/)
  expect(said).not.toMatch(/token/i)
})
