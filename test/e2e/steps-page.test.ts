import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { parseSettings } from '../../shared/settings/parse.ts'
import { type FollowedPage, openPage } from './follow-page.ts'

/** Those in front of a server, those of the second TypeScript step, and what a step refuses are of the thorough run. */
const MORE = /^sluice start$|--watch|run log|split\.yaml|Too short|not ready/

const [page, short] = [openPage('steps.md'), openPage('steps.md', { leaves: MORE })]
afterAll(() => Promise.all([page.close(), short.close()]))

/** Its programs are in Python, as people write them. */
const python = spawnSync('python3', ['--version'], { env: { PATH: '/usr/local/bin:/usr/bin:/bin' } }).status === 0

const saidOf =
  ({ outputs }: FollowedPage) =>
  (words: string) =>
    outputs.find(([line]) => line.includes(words))?.[1] ?? ''

test.skipIf(!python)('the documents of the page about steps are valid, and a step of each language runs', async () => {
  await short.follow()
  const said = saidOf(short)
  expect(said('sluice validate')).toContain('dags/words.yaml is valid: count')
  expect(said('Five words')).toMatch(/gate enough passed: is 5/)
  expect(said('A line of text')).toMatch(/gave score .*words[\s\S]*Artifact words\.txt/)
})

test.skipIf(!python)(
  'every command of the page about steps does what it says',
  {
    tags: ['thorough'],
    timeout: 120_000,
  },
  async () => {
    await page.follow()
    const said = saidOf(page)
    expect(said('sluice validate')).toContain('dags/words.yaml is valid: count')
    expect(said('Five words')).toMatch(/gate enough passed: is 5/)
    expect(said('Too short')).toMatch(/gate enough failed: must be at least 3, is 2/)
    expect(said('one;two')).toMatch(/gave lines .*whole[\s\S]*Artifact lines\.txt/)
    expect(said('not yet')).toMatch(/it is not there yet[\s\S]*attempt 2 started[\s\S]*completed/)
    expect(said('A line of text')).toMatch(/gave score .*words[\s\S]*Artifact words\.txt/)
    expect(said('not ready')).toContain('exit code 75')
    expect(said('sluice run log')).toBe('scored\n')
  },
)

test('its example of settings is one', () => {
  const text = readFileSync(join(import.meta.dirname, '../../docs/steps.md'), 'utf8')
  const [, settings = ''] = /^```yaml\n(# sluice\.yaml\n[\s\S]*?)^```$/m.exec(text) ?? []
  const { programs, steps } = parseSettings(settings, 'sluice.yaml')
  expect([Object.keys(programs), Object.keys(steps)]).toEqual([['./steps/score.py'], ['./steps/score.py']])
})
