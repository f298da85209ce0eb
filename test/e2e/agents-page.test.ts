import { afterAll, expect, test } from 'vitest'
import { type FollowedPage, openPage } from './follow-page.ts'

/** Without a server each command loads all it needs by itself: daily those only check the documents. */
const MORE = /^sluice (run start dags\/hello\.yaml|plan )/

const [page, short] = [openPage('agents.md'), openPage('agents.md', { leaves: MORE })]
afterAll(() => Promise.all([page.close(), short.close()]))

const saidOf =
  ({ outputs }: FollowedPage) =>
  (words: string, nth = 0) =>
    outputs.filter(([line]) => line.includes(words))[nth]?.[1] ?? ''

test('what the page about agents does in front of a server does what it says', async () => {
  await short.follow()
  expectServed(saidOf(short))
})

test('every command of the page about agents does what it says', { tags: ['thorough'], timeout: 120_000 }, async () => {
  await page.follow()
  const said = saidOf(page)
  expect(said('dags/hello.yaml')).toMatch(
    /refused.*"short" failed[\s\S]*artifact\.write .* completed[\s\S]*It is written\./,
  )
  expect(said('sluice plan')).toMatch(/an agent makes one call in each of its first two turns/)
  expectServed(said)
})

function expectServed(said: ReturnType<typeof saidOf>): void {
  expect(said('sluice validate')).toContain('dags/hello.yaml is valid: greet')
  expect(said('sluice validate', 1)).toContain('dags/refunds.yaml is valid: refund')
  expect(said('run artifact')).toBe('We meet on Wednesday.')
  const notes = said('run transcript RUN write')
  expect(notes).toMatch(/approved by \S+ with \{"text":"We meet on Wednesday\."\}/)
  expect(notes).toMatch(/"answer":"the whole team","copies":3|"copies":3,"answer":"the whole team"/)
  expect(said('run watch RUN', 1)).toContain('not before Ana has read them')
  expect(said('run watch RUN', 1)).toContain('Then there are no notes.')
  expect(said('run transcript RUN read')).toMatch(/artifact\.write .* refused.*read what others wrote/)
  const retried = said('greet@2')
  expect(retried).toContain('It is written.')
  expect(retried).not.toContain('1.1 artifact.write')
}
