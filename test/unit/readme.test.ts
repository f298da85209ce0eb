import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parseCases } from '../../shared/cases/case-file.ts'
import { parseDag } from '../../shared/document/parse.ts'
import { parseEval } from '../../shared/evals/eval-file.ts'
import { SafetySchema } from '../../shared/runs/safety-settings.ts'
import { parseSettings } from '../../shared/settings/parse.ts'
import { codesIn, fencedBlocks, filesBelow, readText, rowsBelow } from './docs/markdown.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const DOCUMENTS = ['README.md', 'CONTRIBUTING.md', ...filesBelow(['docs'], '.md')]

describe('README.md', () => {
  const lines = readText('README.md').trimEnd().split('\n')

  test('has at most 120 lines, none longer than 160 characters', () => {
    expect(lines.length).toBeLessThanOrEqual(120)
    expect(lines.filter((line) => line.length > 160)).toEqual([])
  })

  test('leads to every page a reader begins with', () => {
    const pages = ['guide', 'dag', 'gallery', 'gates', 'approvals', 'console', 'api', 'cli', 'deploy', 'differences']
    expect(pages.filter((page) => !lines.join('\n').includes(`(docs/${page}.md)`))).toEqual([])
  })
})

describe('CONTRIBUTING.md', () => {
  const text = readText('CONTRIBUTING.md')

  test('lists the npm scripts there are', () => {
    const { scripts } = JSON.parse(readText('package.json')) as { scripts: Record<string, string> }
    const listed = rowsBelow(text, 'npm scripts').map(([cell = '']) => codesIn(cell)[0]?.split(' ').at(-1))
    expect(listed.toSorted()).toEqual(Object.keys(scripts).sort())
  })
})

test('docs/limits-and-costs.md states every cap of the safety policy with its default', () => {
  const rows = rowsBelow(readText('docs/limits-and-costs.md'), 'Caps an operator sets')
  const stated = rows.map(([key = '', value = '']) => [codesIn(key)[0], codesIn(value)[0]])
  const defaults = SafetySchema.parse({})
  const all = Object.keys(SafetySchema.shape).map((key) => [key, told(defaults[key as keyof typeof defaults])])
  expect(new Map(stated as [string, unknown][])).toEqual(new Map(all as [string, unknown][]))
})

describe.each(['docs/architecture.md', 'CONTRIBUTING.md'])('%s', (path) => {
  test('names files and folders there are', () => {
    const named = codesIn(readText(path).replace(/^```[\s\S]*?^```$/gm, ''))
    const paths = named.filter((code) =>
      /^(shared|functions|infra|clients|scripts|test|docs|dags)\/[\w./-]+$/.test(code),
    )
    expect(paths.filter((code) => !existsSync(resolve(ROOT, code)))).toEqual([])
    expect(paths.length).toBeGreaterThan(20)
  })
})

describe.each(DOCUMENTS)('%s', (path) => {
  const text = readText(path)

  test('has YAML that this version accepts', () => {
    for (const block of fencedBlocks(text, 'yaml')) expectAccepted(block)
  })
})

function expectAccepted(block: string): void {
  if (/^# (?:file: )?sluice\.yaml/.test(block)) expect(() => parseSettings(block, 'sluice.yaml')).not.toThrow()
  else if (block.includes('eval.schema.json')) expect(() => parseEval(block, 'evals/x.yaml')).not.toThrow()
  else if (block.includes('tests.schema.json')) expect(() => parseCases(block, 'tests/x.yaml')).not.toThrow()
  // What names a file of a project is tried with that file, word for word (test/e2e).
  else if (!/: \.\//.test(block)) expect(parseDag(block)).toMatchObject({ ok: true })
}

function told(value: unknown): string | undefined {
  return value === undefined ? undefined : String(value)
}
