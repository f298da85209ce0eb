import { existsSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { filesBelow, readText } from './markdown.ts'

/** Every relative link of the pages at the top and of docs leads to a file, and to a heading of it where it names one. */
const ROOT = resolve(import.meta.dirname, '../../..')
const PAGES = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', ...filesBelow(['docs'], '.md')]

describe.each(PAGES)('%s', (path) => {
  const text = withoutCode(readText(path))
  const links = [...text.matchAll(/\]\((?![a-z]+:)([^)\s]+)\)/g)].map(([, link = '']) => link)

  test('links to files and headings there are', () => {
    expect(links.filter((link) => !leadsSomewhere(path, link))).toEqual([])
  })
})

test('docs/README.md names every page', () => {
  const index = readText('docs/README.md')
  const pages = filesBelow(['docs'], '.md').filter((path) => !/^docs\/(adr|licences|README)/.test(path))
  expect(pages.filter((path) => !index.includes(`(${path.slice('docs/'.length)})`))).toEqual([])
})

function leadsSomewhere(from: string, link: string): boolean {
  const [file = '', heading] = link.split('#')
  const target = file === '' ? join(ROOT, from) : join(ROOT, dirname(from), file)
  if (!existsSync(target)) return false
  if (heading === undefined || !target.endsWith('.md')) return true
  return anchorsOf(readText(target.slice(ROOT.length + 1))).has(heading)
}

/** As GitHub makes them: lower case, marks left out, blanks as dashes, repeats counted. */
function anchorsOf(text: string): ReadonlySet<string> {
  const seen = new Map<string, number>()
  const anchors = new Set<string>()
  for (const [, title = ''] of withoutCode(text).matchAll(/^#+ (.*)$/gm)) {
    const slug = title
      .toLowerCase()
      .replace(/[^\p{L}\p{N}_\s-]/gu, '')
      .trim()
      .replace(/\s/g, '-')
    const times = seen.get(slug) ?? 0
    seen.set(slug, times + 1)
    anchors.add(times === 0 ? slug : `${slug}-${times}`)
  }
  return anchors
}

/** What stands between fences is no link and no heading. */
function withoutCode(text: string): string {
  return text.replace(/^(`{3,})[^\n]*\n[\s\S]*?^\1$/gm, '')
}
