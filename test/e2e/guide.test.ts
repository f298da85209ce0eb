import { afterAll, expect, test } from 'vitest'
import { openPage } from './follow-page.ts'

const page = openPage('guide.md', { json: 'ferries.ndjson' })
afterAll(() => page.close())

test('every command of the guide does what the guide says', { tags: ['thorough'], timeout: 300_000 }, async () => {
  await page.follow()
  const said = new Map(page.outputs)
  expect(said.get('sluice run artifact RUN notice.md')).toContain(
    'Notice: Exports have a header. Valid from Tuesday on.',
  )
  expect(said.get('sluice run status RUN --gates')).toContain('Say what changed')
  expect(said.get('sluice run goal RUN')).toMatch(/0\.6/)
  expect(said.get('sluice research ask "Where do ferries leave Oslo for?"')).toContain('Nesodden')
  const secondDraft = page.outputs.find(([line]) => line.includes('json flag." --yes'))?.[1]
  expect(secondDraft).toMatch(/gate says-from-when failed: People must know from when it holds/)
  const changes = page.outputs.filter(([line]) => line.includes('dags/changes.yaml')).map(([, out]) => out)
  expect(changes[0]).toContain('gate some passed: is 2')
  expect(changes[1]).toMatch(/gate some failed: One change is no list/)
  const changelog = page.outputs.find(([line]) => line.includes('dags/changelog.yaml'))?.[1]
  expect(changelog).toMatch(/artifact\.write .*refused.*"a-list" failed[\s\S]*artifact\.write .*completed/)
})
