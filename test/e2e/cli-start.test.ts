import { execFile } from 'node:child_process'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { firstDaily } from '../how-much.ts'

const ROOT = join(import.meta.dirname, '../..')

/** Tells every module of ours that is loaded, on stderr. */
const TELLING = `import { registerHooks } from 'node:module'
registerHooks({ load(url, context, next) { process.stderr.write(url + '\\n'); return next(url, context) } })`

async function loadedBy(...line: readonly string[]): Promise<readonly string[]> {
  const hook = `data:text/javascript,${encodeURIComponent(TELLING)}`
  const bin = join(ROOT, 'clients/cli/sluice.mjs')
  const { stderr } = await promisify(execFile)(process.execPath, ['--import', hook, bin, ...line], { cwd: ROOT })
  const urls = stderr.split('\n').filter((url) => url.startsWith('file:'))
  return urls.map((url) => relative(ROOT, fileURLToPath(url)))
}

/** What reads, judges, plans and compiles documents: more modules than all else together. */
const WORK = /^shared\/(compile|document\/parse|gates\/registry|plan\/plan-dag|goals\/goal-gate)|node_modules\/ajv\//

test('answers its version without a module of ours or a package', async () => {
  expect(await loadedBy('--version')).toEqual(['clients/cli/sluice.mjs'])
  expect(await loadedBy('-V')).toEqual(['clients/cli/sluice.mjs'])
})

test('lists its commands without loading one, or a package but that which writes the list', async () => {
  const loaded = await loadedBy('--help')
  const folders = new Set(loaded.map((path) => path.replace(/(node_modules\/[^/]+|clients\/cli|shared)\/.*/, '$1')))
  expect([...folders].sort()).toEqual(['clients/cli', 'node_modules/commander', 'package.json', 'shared'])
  expect(loaded.length).toBeLessThan(25)
})

for (const { tags, rows } of firstDaily(1, [
  { line: 'run start --help' },
  { line: 'help plan' },
  { line: 'completion bash' },
]))
  test.each(rows)('reads `sluice $line` without the work of any command', { tags }, async ({ line }) => {
    const loaded = await loadedBy(...line.split(' '))
    expect(loaded).toContain('clients/cli/command-tree.ts')
    expect(loaded.filter((path) => WORK.test(path))).toEqual([])
  })

test('loads that work for a command that does it', async () => {
  const loaded = await loadedBy('validate', 'dags/basic.yaml')
  expect(loaded.filter((path) => WORK.test(path))).toContain('shared/document/parse.ts')
  // Of the other commands nothing, nor of what calls a server.
  expect(loaded.filter((path) => /^clients\/cli\/(run|graph|place|server|approvals)\//.test(path))).toEqual([])
})
