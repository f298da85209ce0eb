import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, afterEach, expect, test } from 'vitest'

/**
 * The deletion exercise (docs/architecture.md, "Folders, and which way arrows go"): in a copy, a room is taken out and
 * everything else must stand.
 */
const ROOT = resolve(import.meta.dirname, '../..')
const KEPT = [
  'shared',
  'functions',
  'infra',
  'clients',
  'dags',
  'docs',
  'sluice.yaml',
  'package.json',
  'cdk.json',
  'tsconfig.json',
]
/** Units whose tests need nothing outside shared and functions. */
const UNIT = ['dag', 'document', 'handlers', 'providers', 'runs', 'table']
/** What those tests read with. */
const TOOLS = [
  'test/how-much.ts',
  'test/unit/docs/markdown.ts',
  'test/unit/gates/in-process-isolate.ts',
  'test/unit/gates/linear.ts',
  'test/emulators',
]

const folder = mkdtempSync(join(tmpdir(), 'sluice-without-'))
const copy = join(folder, 'copy')
afterEach(() => rmSync(copy, { recursive: true, force: true }))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function copyWithout(...rooms: readonly string[]): void {
  mkdirSync(copy)
  for (const name of KEPT) cpSync(join(ROOT, name), join(copy, name), { recursive: true })
  for (const tool of TOOLS) cpSync(join(ROOT, tool), join(copy, tool), { recursive: true })
  for (const room of UNIT) cpSync(join(ROOT, 'test/unit', room), join(copy, 'test/unit', room), { recursive: true })
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'), 'dir')
  for (const room of rooms) rmSync(join(copy, room), { recursive: true })
}

function typeCheck(): string {
  const config = { extends: './tsconfig.json', include: ['shared', 'functions', 'infra', 'clients'] }
  writeFileSync(join(copy, 'tsconfig.rest.json'), JSON.stringify(config))
  // Each check goes on from the one before: the same path, so what no room took anything from is not checked again.
  const goesOn = ['--incremental', '--tsBuildInfoFile', join(folder, 'checked.json')]
  // On one core: the other one runs other tests.
  return run('tsc', '-p', 'tsconfig.rest.json', '--singleThreaded', ...goesOn)
}

/** What projects test with plays documents on the local place: without that it goes too, and its command has nothing to call. */
function withoutLocal(...rooms: readonly string[]): void {
  copyWithout(...rooms, 'infra/local', 'clients/sdk/testing.ts')
  writeFileSync(join(copy, 'clients/sdk/testing.ts'), 'export declare const playDocument: any\n')
}

test('without infra/local, AWS still builds and the tests of shared and functions pass', () => {
  withoutLocal()
  expect(typeCheck()).toBe('')
  const tags = [{ name: 'thorough' }]
  const test = { include: ['test/unit/**/*.test.ts'], tags, testTimeout: 60_000, pool: 'threads', isolate: false }
  writeFileSync(join(copy, 'vitest.config.mjs'), `export default ${JSON.stringify({ test })}\n`)
  expect(run('vitest', 'run', '--reporter=dot', '--silent')).toMatch(/Tests .*passed/)
})

test('without infra/aws and functions/aws, the local place still runs', () => {
  copyWithout('infra/aws', 'functions/aws')
  expect(typeCheck()).toBe('')
  const args = ['run', 'start', '--example', 'basic', '--input', 'goal=Ship it', '--json']
  expect(run('node', join(copy, 'clients/cli/main.ts'), ...args)).toContain('completed')
})

test('without functions/aws, shared and the other functions still type-check', () => {
  withoutLocal('functions/aws', 'infra/aws')
  expect(typeCheck()).toBe('')
})

/** Standard output; what a failing program printed is the message of the failure. */
function run(program: string, ...args: readonly string[]): string {
  try {
    // A target on the usual port would take the run: this place is to do it itself.
    const env = { ...process.env, SLUICE_URL: undefined }
    const file = join(ROOT, 'node_modules/.bin', program)
    return execFileSync(file, args, { cwd: copy, encoding: 'utf8', stdio: 'pipe', env })
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string }
    throw new Error(`${program} failed:\n${stdout.slice(-4_000)}\n${stderr.slice(-4_000)}`, { cause: error })
  }
}
