import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openPage } from './follow-page.ts'
import { typePrinted } from './printed-commands.ts'

/** `npm run -s sluice --` as a person types it in a folder of a clone: npm itself goes to the clone's root. */
const CLONE = join(import.meta.dirname, '../..')
let folder = ''

beforeAll(() => {
  mkdirSync(join(CLONE, '.sluice'), { recursive: true })
  folder = mkdtempSync(join(CLONE, '.sluice/clone-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(npm_|INIT_CWD|SLUICE_)/i.test(name)))

function typed(words: readonly string[], cwd: string, where: readonly string[] = []) {
  const all = ['run', '-s', ...where, 'sluice', '--', ...words]
  const { status, stdout, stderr } = spawnSync('npm', all, { cwd, env, encoding: 'utf8' })
  return { code: status, said: `${stdout}${stderr}` }
}

test('the first commands of the guide act in the folder where the person stands', {
  tags: ['thorough'],
  timeout: 120_000,
}, async () => {
  const made = typed(['init', 'brief'], folder)
  expect(made.code, made.said).toBe(0)
  const brief = join(folder, 'brief')
  // Every command it prints works as it is printed.
  expect(await typePrinted(made.said, folder, env)).toContain('completed')
  expect(existsSync(join(brief, '.sluice/sluice.db'))).toBe(true)
  const checked = typed(['validate', 'dags/nothing.yaml'], brief, ['--prefix', CLONE])
  expect(checked.code).toBe(2)
  expect(checked.said).toContain(brief)
})

test('every command of the guide does what the guide says, typed in a folder elsewhere', {
  tags: ['thorough'],
  timeout: 600_000,
}, async () => {
  const words = ['npm', 'run', '-s', '--prefix', CLONE, 'sluice', '--'] as const
  const page = openPage('guide.md', { json: 'ferries.ndjson', typed: { words: [...words], env } })
  try {
    await page.follow()
    expect(new Map(page.outputs).get('sluice run artifact RUN notice.md')).toContain('Valid from Tuesday on.')
  } finally {
    await page.close()
  }
})
