import { spawnSync } from 'node:child_process'
import { afterAll, expect, test } from 'vitest'
import { openPage } from './follow-page.ts'

const page = openPage('steps.md')
afterAll(() => page.close())

/** Its programs are in Python, as people write them. */
const python = spawnSync('python3', ['--version'], { env: { PATH: '/usr/local/bin:/usr/bin:/bin' } }).status === 0

test.skipIf(!python)('every command of the page about steps does what it says', { timeout: 120_000 }, async () => {
  await page.follow()
  const said = (words: string) => page.outputs.find(([line]) => line.includes(words))?.[1] ?? ''
  expect(said('sluice validate')).toContain('dags/words.yaml is valid: count')
  expect(said('Five words')).toMatch(/gate enough passed: is 5/)
  expect(said('Too short')).toMatch(/gate enough failed: must be at least 3, is 2/)
  expect(said('one;two')).toMatch(/gave lines .*whole[\s\S]*Artifact lines\.txt/)
  expect(said('not yet')).toMatch(/it is not there yet[\s\S]*attempt 2 started[\s\S]*completed/)
  expect(said('A line of text')).toMatch(/gave score .*words[\s\S]*Artifact words\.txt/)
  expect(said('not ready')).toContain('exit code 75')
})
