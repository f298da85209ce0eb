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

describe('comments', () => {
  const ROOMS = ['shared', 'functions', 'infra', 'clients', 'scripts', 'test']
  const files = ROOMS.flatMap((room) => [...filesBelow([room], '.ts'), ...filesBelow([room], '.tsx')])
  const sources = files
    .filter((path) => !/node_modules|\.generated\./.test(path))
    // Where a line of a comment breaks is no matter.
    .map((path) => ({ path, text: readText(path).replace(/\n\s*(?:\*|\/\/) /g, ' ') }))

  test('cite pages and headings there are', () => {
    const cited = sources.flatMap(({ path, text }) =>
      [...text.matchAll(/\b(docs\/[\w/-]+\.md|CONTRIBUTING\.md), "([^"]+)"/g)].map(([, page = '', heading = '']) => ({
        path,
        page,
        heading,
      })),
    )
    expect(cited.length).toBeGreaterThan(50)
    expect(cited.filter(({ page, heading }) => !isHeading(page, heading))).toEqual([])
  })

  test('cite decisions there are', () => {
    const numbers = new Set(filesBelow(['docs/adr'], '.md').map((path) => /\/(\d{4})-/.exec(path)?.[1]))
    const cited = sources.flatMap(({ path, text }) =>
      [...text.matchAll(/(?:docs\/adr\/|\bADR )(\d{4})/g)].map(([, number = '']) => ({ path, number })),
    )
    expect(cited.filter(({ number }) => !numbers.has(number))).toEqual([])
  })

  test('cite nothing that is not here', () => {
    const words = [
      'spec (gates|security|dag|reliability|runs-and-api|research|goal-gates|approvals)',
      'decisions?, "[A-Z]',
    ]
    const elsewhere = new RegExp(
      `\\b(?:${[...words, 'design (compile|decisions|style)', 'seed 00\\d'].join('|')})`,
      'i',
    )
    expect(sources.filter(({ text }) => elsewhere.test(text)).map(({ path }) => path)).toEqual([])
  })
})

function isHeading(page: string, heading: string): boolean {
  if (!existsSync(join(ROOT, page))) return false
  const headings = [...withoutCode(readText(page)).matchAll(/^#+ (.*)$/gm)].map(([, title = '']) => title)
  // Terms of a list in bold are headings, too.
  return headings.includes(heading) || readText(page).includes(`**${heading}**`)
}

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
