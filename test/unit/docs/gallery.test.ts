import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { requireOneVote } from '../../../clients/cli/run/start-document.ts'
import { GALLERY } from '../../../scripts/gallery/gallery-entries.ts'
import { documentFeatures, drawing, FEATURE_NAMES } from '../../../scripts/gallery/gallery-page.ts'
import { parseDag } from '../../../shared/document/parse.ts'
import { fencedBlocks, readText, rowsBelow } from './markdown.ts'

/** docs/gallery.md is written by a script out of real runs: what it says must be what the documents are today. */
const PAGE = readText('docs/gallery.md')
const NAMES = readdirSync(join(import.meta.dirname, '../../../dags')).map((file) => file.replace('.yaml', ''))

function dagOf(name: string) {
  const parsed = parseDag(readText(`dags/${name}.yaml`), { name })
  if (!parsed.ok) throw new Error(`${name} does not parse`)
  return parsed.dag
}

/** Up to the next document's: what runs left has headings too. */
function sectionOf(name: string): string {
  const starts = GALLERY.map((entry) => PAGE.indexOf(`\n## ${entry.name}\n`))
  const start = PAGE.indexOf(`\n## ${name}\n`)
  return PAGE.slice(
    start,
    starts.find((other) => other > start),
  )
}

test('the gallery has every document of dags/ once', () => {
  const sections = [...PAGE.replace(/^```[\s\S]*?^```$/gm, '').matchAll(/^## ([a-z-]+)$/gm)].map(([, name]) => name)
  expect(sections.toSorted()).toEqual(NAMES.toSorted())
  expect(GALLERY.map(({ name }) => name).toSorted()).toEqual(NAMES.toSorted())
})

test('the gallery shows every part of the language somewhere', () => {
  const used = new Set(NAMES.flatMap((name) => documentFeatures(dagOf(name))))
  expect(FEATURE_NAMES.filter((feature) => !used.has(feature))).toEqual([])
})

describe.each(NAMES)('%s', (name) => {
  const section = sectionOf(name)

  test('is drawn as `sluice graph` draws it', () => {
    expect(fencedBlocks(section, 'mermaid').map((text) => text.trimEnd())).toEqual([drawing(dagOf(name))])
  })

  test('says what it shows, how it is run, and what a run said', () => {
    const entry = GALLERY.find((one) => one.name === name)
    for (const line of entry?.shows ?? ['missing']) expect(section).toContain(`- ${line}\n`)
    expect(fencedBlocks(section, 'sh').at(0)).toContain(`sluice ${entry?.command}\n`)
    const [run = '', artifact] = fencedBlocks(section, 'text')
    expect(run).toMatch(/^Run RUN completed/m)
    expect(artifact !== undefined).toBe(entry?.artifact !== undefined)
  })

  test('is not run with a --yes that the command would refuse', () => {
    const { command = '' } = GALLERY.find((one) => one.name === name) ?? {}
    const asked = () => (command.includes('--yes') ? requireOneVote(dagOf(name), 'sluice') : undefined)
    expect(asked).not.toThrow()
  })

  test('has its crosses in the table', () => {
    const row = rowsBelow(PAGE, 'What shows what').find(([first]) => first === `[${name}](#${name})`) ?? []
    const marked = FEATURE_NAMES.filter((_, at) => row[at + 1] === 'x')
    expect(marked).toEqual(documentFeatures(dagOf(name)))
  })
})
