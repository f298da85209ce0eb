import { spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { firstDaily } from '../how-much.ts'

/** A clone with its packages installed and nothing built: what the commands of the README do about the console. */
const ROOT = resolve(import.meta.dirname, '../..')
const KEPT = ['clients', 'shared', 'scripts', 'vite.config.ts', 'package.json', 'package-lock.json', 'tsconfig.json']
const clone = mkdtempSync(join(tmpdir(), 'sluice-clone-'))
const page = join(clone, 'dist/console/index.html')
const view = join(clone, 'clients/console/app.tsx')

beforeAll(() => {
  for (const name of KEPT) cpSync(join(ROOT, name), join(clone, name), { recursive: true, preserveTimestamps: true })
  symlinkSync(join(ROOT, 'node_modules'), join(clone, 'node_modules'), 'dir')
})

afterAll(() => rmSync(clone, { recursive: true, force: true }))

function run(...command: readonly string[]) {
  const started = performance.now()
  const args = [join(clone, 'scripts/install-if-needed.mjs'), ...command]
  const done = spawnSync(process.execPath, args, { cwd: clone, encoding: 'utf8' })
  return { code: done.status, out: done.stdout, err: done.stderr, ms: performance.now() - started }
}

const hello = ['node', '-e', 'console.log("hello")'] as const

describe('a command of a clone', () => {
  test('builds the console once, says so on stderr, and leaves stdout to what it runs', () => {
    const first = run(...hello)
    expect([first.code, first.out]).toEqual([0, 'hello\n'])
    expect(first.err).toMatch(/Built the console in \d+\.\d s \(it is not built yet\)/)
    expect(readFileSync(page, 'utf8')).toContain('<div id="app">')
    const again = run(...hello)
    expect([again.code, again.out, again.err]).toEqual([0, 'hello\n', ''])
    process.stdout.write(`first: ${first.ms.toFixed(0)} ms; with the console built: ${again.ms.toFixed(0)} ms\n`)
    // Nothing of the build is left beside it.
    expect(readdirSync(join(clone, 'dist'))).toEqual(['console'])
  })

  for (const { tags, rows } of firstDaily(1, ['shared/errors.ts', 'clients/console/app.tsx', 'vite.config.ts']))
    test.each(rows)('builds it again after %s', { tags }, (file) => {
      if (!existsSync(page)) run(...hello)
      const later = Date.now() / 1_000 + 1
      utimesSync(join(clone, file), later, later)
      expect(run(...hello).err).toMatch(/Built the console .*older than its sources/)
      // Even a file with a time to come means one build, not one at every start.
      expect(run(...hello).err).toBe('')
    })

  test('goes on with the old page when a new one cannot be built, and npm run build fails', {
    tags: ['thorough'],
  }, () => {
    if (!existsSync(page)) run(...hello)
    const before = readFileSync(page, 'utf8')
    const text = readFileSync(view, 'utf8')
    writeFileSync(view, `${text}\nconst broken = <div>\n`)
    const later = Date.now() / 1_000 + 5
    utimesSync(view, later, later)
    const done = run(...hello)
    expect([done.code, done.out]).toEqual([0, 'hello\n'])
    expect(done.err).toMatch(/app\.tsx[\s\S]*could not be built .*everything else goes on/)
    expect(readFileSync(page, 'utf8')).toBe(before)
    const build = run('node', 'scripts/build.ts')
    expect([build.code, existsSync(join(clone, 'dist/app'))]).toEqual([1, false])
    expect(build.err).toMatch(/The console could not be built\.\n$/)
    expect(readdirSync(join(clone, 'dist'))).toEqual(['console'])
  })
})
