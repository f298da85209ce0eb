import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { displayWidth } from '../../clients/cli/terminal/text.ts'
import { openPlace, type Place } from '../../infra/local/place.ts'
import { SettingsSchema } from '../../shared/settings/settings.ts'
import { type ProjectFolder, projectFolder } from './project-folder.ts'
import { noTerminal, onTerminal } from './pseudo-terminal.ts'

let project: ProjectFolder
/** Where the runs are: one place for all. */
let place: Place
const there = () => ({ SLUICE_URL: place.url ?? '' })
const missing = noTerminal()

/** Blocks with long names and one with wide characters in its words; a gate that is refused once, so that a try is waited for. */
const SLOW = `name: 世界の国々の一覧を作る-and-a-name-that-is-longer-than-most-windows-are-wide
blocks:
  - id: collect-the-figures-of-every-country-one
    outputs: { text: string }
    agent: { provider: local, model: outline, prompt: "Collect figures of Norway." }
  - id: collect-the-figures-of-every-country-two
    outputs: { text: string }
    agent: { provider: local, model: outline, prompt: "Collect figures of Sweden." }
    retry: { max_attempts: 2, delay_ms: 4000, jitter: none }
    post_gates:
      - { name: long-enough, check: { type: min_length, port: text, min: 300 }, error: "数字が足りません: the text must be longer than it is" }
  - id: publish
    inputs: { text: { from: collect-the-figures-of-every-country-two.text } }
    outputs: { note: string }
    agent: { provider: local, model: outline, prompt: "Sum up." }
`

const OUTLINE = `blocks:
  - { id: outline, outputs: { text: string }, agent: { provider: local, model: outline, prompt: Say what a gate is. } }
`

/** Blocks, one after the other; the one in the middle takes a second, in which a window shows what came and what comes. */
const chained = (length: number) => {
  const middle = length / 2
  const blocks = Array.from({ length }, (_, i) => {
    const after = i === 0 ? {} : { depends: `b${i - 1}.succeeded` }
    if (i === middle) return { id: `b${i}`, mode: 'wait', ...after, wait: { for: '1s' } }
    const deterministic = { handler: 'transform', config: { expression: String(i) } }
    return { id: `b${i}`, mode: 'deterministic', ...after, outputs: { n: 'number' }, deterministic }
  })
  return JSON.stringify({ name: 'many', blocks })
}

beforeAll(async () => {
  project = await projectFolder()
  const settings = {
    data_dir: join(project.folder, 'data'),
    inputs_dir: join(project.folder, 'inputs'),
    port: 0,
  }
  place = await openPlace(SettingsSchema.parse(settings), { listen: true })
  writeFileSync(join(project.folder, 'slow.yaml'), SLOW)
  writeFileSync(join(project.folder, 'outline.yaml'), OUTLINE)
})
afterAll(async () => {
  await place.close()
  project.remove()
})

/** Lines of every frame of the live view. */
function frameLines(written: string): readonly string[] {
  const frames = written.split('\u001b[?2026h').slice(1)
  const inside = frames.map((frame) => frame.split('\u001b[?2026l')[0] ?? '')
  return inside.flatMap((frame) =>
    stripVTControlCharacters(frame)
      .split(/\r?\n/)
      .map((line) => line.replaceAll('\r', '')),
  )
}

describe.runIf(missing === undefined)('on a terminal', () => {
  const goesOn = 'of %d columns no line is wider than it, and it says what goes on'
  test.each([80])(goesOn, saysWhatGoesOn)
  test.each([40])(goesOn, { tags: ['thorough'] }, saysWhatGoesOn)

  async function saysWhatGoesOn(columns: number) {
    const written = await onTerminal(project, 'sluice run start slow.yaml --watch', { columns, env: there() })
    const lines = frameLines(written)
    expect(lines.filter((line) => displayWidth(line) > columns)).toEqual([])
    const said = lines.join('\n')
    expect(said).toContain('running')
    expect(said).toMatch(/↻ \S+ +retrying +try 1\/2/)
    expect(said).toMatch(/✓ publish +completed/)
    // Names that begin alike are told apart by their ends.
    expect(said).toMatch(/…\S*one /)
    expect(said).toMatch(/…\S*two /)
    if (columns === 80) expect(said).toMatch(/try 1\/2 {2}again in \d\.\d+ s {2}1 of 1 gate/)
    expect(stripVTControlCharacters(written)).toMatch(/Run run_\w+ completed in/)
  }

  test('a window made narrower gets narrower lines', { tags: ['thorough'] }, async () => {
    const written = await onTerminal(project, 'sluice run start slow.yaml --watch', {
      columns: 100,
      env: there(),
      resize: { after_ms: 1_500, columns: 40 },
    })
    const last = frameLines(written).slice(-5)
    expect(last.filter((line) => displayWidth(line) > 40)).toEqual([])
  })

  const summary = '%i blocks are a summary and what moves, never more rows than there are'
  test.each([40, 200])(summary, { tags: ['thorough'] }, isSummary)

  async function isSummary(blocks: number) {
    writeFileSync(join(project.folder, 'many.yaml'), chained(blocks))
    const written = await onTerminal(project, 'sluice run start many.yaml --watch', {
      columns: 80,
      rows: 20,
      env: there(),
    })
    const frames = written.split('\u001b[?2026h').slice(1)
    expect(Math.max(...frames.map((frame) => frame.split('\n').length))).toBeLessThanOrEqual(20)
    expect(frameLines(written).join('\n')).toMatch(/ {2}… \d+ completed, \d+ pending/)
    expect(stripVTControlCharacters(written)).toContain(`… ${blocks} completed`)
  }

  test('colour goes by NO_COLOR', { tags: ['thorough'] }, async () => {
    const colored = await onTerminal(project, 'sluice run start --watch', { columns: 80 })
    expect(colored).toContain('\u001b[32mcompleted')
    const plain = await onTerminal(project, 'sluice run start --watch', { columns: 80, env: { NO_COLOR: '1' } })
    expect(plain).toContain('\u001b[?2026h')
    expect(plain).not.toContain('\u001b[32m')
  })

  test('CI gets lines that stay', { tags: ['thorough'] }, async () => {
    const ci = await onTerminal(project, 'sluice run start --watch', { columns: 80, env: { CI: 'true' } })
    expect(ci).not.toContain('\u001b[')
    expect(ci).toMatch(/outline: gate numbered passed/)
  })
})

test.skipIf(missing === undefined)(`the live view was not looked at: ${missing}`, () => {})

test('piped, it is a line an event without a single sequence', async () => {
  const { out } = await project.run('sluice run start outline.yaml --watch | cat', there())
  expect(out).not.toContain('\u001b')
  expect(out).toMatch(/^ {3}\d\.\d\d s {2}outline: completed$/m)
})

test('FORCE_COLOR colours what is drawn', { tags: ['thorough'] }, async () => {
  const { out } = await project.run('sluice run start outline.yaml --json --watch', there())
  const id = JSON.parse(out).run.run_id
  const status = await project.run(`sluice run status ${id} | cat`, { ...there(), FORCE_COLOR: '1', NO_COLOR: '' })
  expect(status.out).toContain('\u001b[32mcompleted')
})
