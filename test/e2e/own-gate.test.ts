import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sluice, spawnSluice } from './run-cli.ts'

/** "A gate of your own" in docs/gates.md, word for word, in a folder outside this repository with nothing installed. */
const PAGE = readFileSync(join(import.meta.dirname, '../../docs/gates.md'), 'utf8')
const SECTION = PAGE.slice(PAGE.indexOf('## A gate of your own'), PAGE.indexOf('## Asking a person'))
const codeOf = (language: string) => new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(SECTION)?.[1] ?? ''

let cwd = ''
beforeAll(() => {
  cwd = mkdtempSync(join(tmpdir(), 'sluice-own-gate-'))
  mkdirSync(join(cwd, 'gates'))
  mkdirSync(join(cwd, 'dags'))
  writeFileSync(join(cwd, 'gates/no-competitors.ts'), codeOf('ts'))
  writeFileSync(join(cwd, 'dags/reply.yaml'), codeOf('yaml'))
})
afterAll(() => rmSync(cwd, { recursive: true, force: true }))

test('the page is enough: the document is valid, and its run is judged by the gate', async () => {
  expect(await sluice(['validate'], { cwd })).toMatchObject({ code: 0, out: 'dags/reply.yaml is valid: draft\n' })
  const good = await sluice(['run', 'start', 'dags/reply.yaml'], { cwd })
  expect(good).toMatchObject({ code: 0 })
  expect(good.out).toMatch(
    /gate fair \(\.\/gates\/no-competitors\.ts, version [0-9a-f]{12}\) passed: names no competitor/,
  )
  const bad = await sluice(['run', 'start', 'dags/reply.yaml', '--input', 'notes=Acme is worse.'], { cwd })
  expect(bad.code).toBe(1)
  expect(bad.out).toMatch(/failed: names Acme/)
})

test('its document compiles and is planned', { tags: ['thorough'] }, async () => {
  expect((await sluice(['compile', 'dags/reply.yaml'], { cwd })).code).toBe(0)
  expect((await sluice(['plan', 'dags/reply.yaml'], { cwd })).code).toBe(0)
})

test('what is wrong is told with line, column and what was meant', async () => {
  const written = readFileSync(join(cwd, 'dags/reply.yaml'), 'utf8')
  writeFileSync(join(cwd, 'near.yaml'), written.replace('no-competitors.ts', 'no-competitor.ts'))
  writeFileSync(join(cwd, 'key.yaml'), written.replace('names:', 'name:'))
  const near = await sluice(['validate', 'near.yaml'], { cwd })
  expect(near.code).toBe(100)
  expect(near.out).toMatch(/9:\d+ {2}gate_module_missing .*Did you mean "\.\/gates\/no-competitors\.ts"\?/)
  const key = await sluice(['validate', 'key.yaml'], { cwd })
  expect(key.out).toMatch(/9:\d+ {2}unknown_key .*Did you mean "names"\?/)
})

test('a check is judged without a server, too', async () => {
  const check = { type: './gates/no-competitors.ts', port: 'reply', names: ['Acme'] }
  const stdin = `${JSON.stringify({ id: 1, check, outputs: { reply: 'Acme!' } })}\n`
  const { out, err } = await spawnSluice(['gates', 'check', '--ndjson'], { cwd, stdin })
  expect(err).toBe('')
  expect(JSON.parse(out)).toMatchObject({ id: 1, passed: false, status: 'failed', reason: 'names Acme' })
})

test('a step whose folder is not there is told with line and column', async () => {
  const block = '{ id: a, mode: deterministic, deterministic: { handler: ./nowhere/a.ts } }'
  writeFileSync(join(cwd, 'nowhere.yaml'), `name: nowhere\nblocks:\n  - ${block}\n`)
  const { code, out } = await sluice(['validate', 'nowhere.yaml'], { cwd })
  expect(code).toBe(100)
  expect(out).toMatch(/3:\d+ {2}unknown_step .*there is no such file below the folder of sluice\.yaml/)
})
