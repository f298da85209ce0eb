import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'

/** The deletion exercise (architecture, "Arrows"): in a copy, a place is taken out and everything else must stand. */
const ROOT = resolve(import.meta.dirname, '../..')
const KEPT = ['shared', 'functions', 'clients', 'package.json', 'tsconfig.json', 'dags']
const UNIT = ['dag', 'handlers', 'providers', 'runs', 'table']

let copy: string

beforeAll(() => {
  copy = mkdtempSync(join(tmpdir(), 'sluice-without-local-'))
  for (const name of KEPT) cpSync(join(ROOT, name), join(copy, name), { recursive: true })
  for (const room of UNIT) cpSync(join(ROOT, 'test/unit', room), join(copy, 'test/unit', room), { recursive: true })
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'), 'dir')
})

afterAll(() => rmSync(copy, { recursive: true, force: true }))

test('without infra/local, shared, functions and clients still type-check', () => {
  expect(readdirSync(copy)).not.toContain('infra')
  const config = { extends: './tsconfig.json', include: ['shared', 'functions', 'clients'] }
  writeFileSync(join(copy, 'tsconfig.rest.json'), JSON.stringify(config))
  expect(run('tsc', '-p', 'tsconfig.rest.json')).toBe('')
})

test('without infra/local, the tests of shared and functions pass', () => {
  const config = "export default { test: { include: ['test/unit/**/*.test.ts'], testTimeout: 60_000 } }\n"
  writeFileSync(join(copy, 'vitest.config.mjs'), config)
  expect(run('vitest', 'run', '--reporter=dot', '--silent')).toMatch(/Tests .*passed/)
})

/** Standard output; what a failing program printed is the message of the failure. */
function run(program: string, ...args: readonly string[]): string {
  try {
    return execFileSync(join(ROOT, 'node_modules/.bin', program), args, { cwd: copy, encoding: 'utf8', stdio: 'pipe' })
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string }
    throw new Error(`${program} failed:\n${stdout.slice(-4_000)}\n${stderr.slice(-4_000)}`, { cause: error })
  }
}
