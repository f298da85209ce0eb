import { mkdirSync, mkdtempSync, rmSync, truncateSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { readDocument } from '../../../clients/cli/graph/document-text.ts'
import { importFolder } from '../../../clients/cli/graph/import-files.ts'
import { readPdfText } from '../../../clients/cli/graph/read-pdf.ts'
import { openPlace, type Place } from '../../../infra/local/place.ts'
import { SettingsSchema } from '../../../shared/settings/settings.ts'
import { pdfOf } from './pdf-of.ts'

let dir: string
let place: Place
beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'sluice-files-'))
  place = await openPlace(SettingsSchema.parse({ port: 0, data_dir: join(dir, 'data') }), { listen: true })
})
afterEach(async () => {
  await place.close()
  rmSync(dir, { recursive: true })
})

function write(files: Readonly<Record<string, string | Buffer>>): void {
  for (const [path, text] of Object.entries(files)) {
    const file = join(dir, 'Hand Book', path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
  }
}

const FILES = {
  'index.md':
    '# The handbook\n\nSee [setup](guides/setup.md), [vaults](guides/vaults.html#doors) and [the web](https://x.org).',
  'guides/setup.md':
    '---\ntitle: "How to set it up"\n---\n# Other\n\n```\n[no](../index.md)\n```\n\nQuokkas come first.',
  'guides/vaults.html':
    '<title>Vaults &amp; doors</title><script>never()</script><p>Doors open at <b>nine</b>.<p><a href="../index.md">up</a>',
  'guides/ünder one.txt': 'Notes\n\nNumbats dig at noon.',
  'wombat.pdf': pdfOf('The wombat digs at night.', 'Wombat report'),
  '.hidden/secret.md': '# Not imported',
  'node_modules/a/readme.md': '# Not imported',
  'data.bin': 'x',
}

const target = () => ({ url: place.url ?? '', named: true })
const run = (over: Partial<Parameters<typeof importFolder>[2]> = {}) =>
  importFolder(target(), join(dir, 'Hand Book'), { remove: false, all: false, progress: () => {}, ...over })
const json = async (path: string) => JSON.parse(await (await fetch(`${place.url}${path}`)).text())
const entity = async (instance: string) =>
  (await json(`/api/graph/entities/local.files.docs.Hand-Book.document.${instance}`)).entity
const first = async (q: string) => (await json(`/api/graph/search?q=${encodeURIComponent(q)}`)).hits[0]

describe('importFolder()', () => {
  test('makes an entity of each document, with title, path, text and the links between them', async () => {
    write(FILES)
    const imported = await run()
    expect(imported).toMatchObject({ outcomes: { created: 5 }, refused: 0, same: 0, skipped: 1, gone: [] })
    const index = await entity('index-md')
    expect(index).toMatchObject({ label: 'The handbook', type: 'document' })
    const said = (index.triples as { predicate: string; object: string }[]).map(
      ({ predicate, object }) => `${predicate} ${object}`,
    )
    const ids = 'local.files.docs.Hand-Book.document'
    expect(said).toEqual([
      `document.links_to ${ids}.guides_setup-md`,
      `document.links_to ${ids}.guides_vaults-html`,
      'document.path index.md',
    ])
    expect((await entity('guides_setup-md')).label).toBe('How to set it up')
    expect((await entity('guides_setup-md')).triples).toHaveLength(1)
    expect(await first('doors nine')).toMatchObject({
      label: 'Vaults & doors',
      snippet_text: 'Doors open at nine.\n\nup',
    })
    expect(await first('numbats')).toMatchObject({ label: 'Notes' })
    expect(await first('wombat')).toMatchObject({ label: 'Wombat report', entity_id: `${ids}.wombat-pdf` })
    expect((await json('/api/graph/search')).hits).toHaveLength(5)
    expect((await json('/api/graph/search?q=never')).hits).toEqual([])
  })

  test('sends what changed only, from wherever; tells what is gone, and deletes it when told to', async () => {
    write(FILES)
    await run()
    expect(await run()).toMatchObject({ outcomes: {}, same: 5, gone: [] })
    utimesSync(join(dir, 'Hand Book', 'wombat.pdf'), 1, 1)
    write({ 'guides/ünder one.txt': 'Notes\n\nNumbats dig at dusk.' })
    expect(await run()).toMatchObject({ outcomes: { updated: 1 }, same: 4 })
    expect(await first('numbats')).toMatchObject({ snippet_text: expect.stringContaining('dusk') })
    rmSync(join(dir, 'Hand Book', 'wombat.pdf'))
    expect(await run()).toMatchObject({ gone: ['wombat.pdf'], removed: false })
    expect(await first('wombat')).toMatchObject({ label: 'Wombat report' })
    expect(await run({ remove: true })).toMatchObject({ gone: ['wombat.pdf'], removed: true })
    expect(await first('wombat')).toBeUndefined()
    expect(await run()).toMatchObject({ outcomes: {}, same: 4, gone: [] })
    expect((await run({ all: true })).outcomes).toEqual({ unchanged: 4 })
  })

  test('refuses a file by itself, and sends it once it can be read', async () => {
    write({ 'good.md': 'Fine.', 'bad.txt': Buffer.from([0xff, 0]), 'broken.pdf': 'no pdf', 'empty.html': '<p> </p>' })
    const imported = await run()
    expect(imported).toMatchObject({ outcomes: { created: 1 }, refused: 3 })
    expect(imported.errors.map(({ id, code }) => [id, code])).toEqual(
      ['bad.txt', 'broken.pdf', 'empty.html'].map((path) => [path, 'unreadable_file']),
    )
    expect((await entity('good-md')).label).toBe('good')
    write({ 'bad.txt': 'Good now.' })
    expect(await run()).toMatchObject({ outcomes: { created: 1 }, same: 1, refused: 2 })
  })

  test('paths that would have one id have two; a thousand files and more are listed whole', async () => {
    const many = Object.fromEntries(
      Array.from({ length: 1_300 }, (_, n) => [`some/folder/page-${n}.txt`, `Page ${n}.`]),
    )
    write({ ...many, 'a/b.txt': 'One.', 'a_b.txt': 'Two.', 'a.b.txt': 'Three.' })
    expect((await run()).outcomes).toEqual({ created: 1_303 })
    expect(await run()).toMatchObject({ outcomes: {}, same: 1_303 })
  })

  test('what cannot be looked at is refused by itself, and what was imported of it is not gone', async () => {
    write({ 'a.md': 'A', 'sub/b.md': 'B', 'large.txt': '' })
    await run()
    const root = Buffer.from(join(dir, 'Hand Book', '/'))
    const odd = (...bytes: readonly number[]) => Buffer.concat([root, Buffer.from(bytes)])
    // Names that are no UTF-8: listed with a mark in their place, under which nobody finds them.
    writeFileSync(odd(0x61, 0xff, 0x2e, 0x6d, 0x64), 'C')
    mkdirSync(odd(0x62, 0xff))
    truncateSync(join(dir, 'Hand Book', 'large.txt'), 3_000_000_000)
    write({ [`${'"'.repeat(250)}/${'"'.repeat(250)}/x.md`]: 'D' })
    const imported = await run({ all: true })
    expect(imported).toMatchObject({ outcomes: { unchanged: 2 }, refused: 4, gone: [] })
    expect(imported.errors.map(({ message }) => message)).toEqual([
      'Its path is too long: at most 1000 characters.',
      'It cannot be read: its name is no UTF-8. Rename it.',
      'It has 3000000000 bytes, at most 67108864 are taken.',
      'It cannot be read: its name is no UTF-8. Rename it.',
    ])
  })

  test('what somebody else wrote in place of a list is no list', async () => {
    write({ 'a.md': 'A' })
    await run()
    const entity_id = 'local.files.docs.Hand-Book.file-list.part-0'
    const said = { subject: entity_id, predicate: 'files.listing', source: 'x', timestamp: '2026-01-01T00:00:00Z' }
    const triples = ['no list', 'null', '7'].map((object) => ({ ...said, object }))
    await fetch(`${place.url}/api/graph/entities`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ entities: [{ entity_id, triples }] }),
    })
    expect(await run()).toMatchObject({ outcomes: { unchanged: 1 }, gone: [] })
    expect(await run()).toMatchObject({ outcomes: {}, same: 1 })
  })

  test('lists files of long names in any script', async () => {
    const many = Object.fromEntries(
      Array.from({ length: 1_000 }, (_, n) => [`${'漢字仮名交文'.repeat(12)}${n}.txt`, `Page ${n}.`]),
    )
    write(many)
    expect((await run()).outcomes).toEqual({ created: 1_000 })
    expect(await run()).toMatchObject({ outcomes: {}, same: 1_000 })
  })

  test('names what is wrong with a folder or a collection', async () => {
    await expect(
      importFolder(target(), join(dir, 'none'), { remove: false, all: false, progress: () => {} }),
    ).rejects.toThrow(/no such folder/)
    write({ 'a.md': 'A' })
    await expect(run({ collection: 'a.b' })).rejects.toThrow(/--collection/)
    expect((await run({ collection: 'other' })).outcomes).toEqual({ created: 1 })
  })
})

test.each([
  ['front matter', '---\ntitle: A b\n---\n# C', 'A b'],
  ['a heading', 'text\n\n## [One](x.md) `two` #\n', 'One two'],
  ['an underlined heading', 'One two\n=======\n', 'One two'],
  ['no heading in code', '```sh\n# no\n```\ntext', undefined],
  ['after code that is empty', '```\n```\n# A b\n', 'A b'],
  ['an underlined heading with line ends of Windows', 'One two\r\n===\r\ntext', 'One two'],
])('the title of Markdown: %s', async (_, text, title) => {
  expect((await readDocument('a.md', Buffer.from(text))).title).toBe(title)
})

test('links of Markdown: in brackets, by reference, with titles', async () => {
  const text = '[a](one.md "T") ![p](pic.png) [b](<two.md>) [c][r]\n\n[r]: three.md\n~~~\n[d](no.md)\n~~~\n'
  expect((await readDocument('a.md', Buffer.from(text))).links).toEqual(['one.md', 'pic.png', 'two.md', 'three.md'])
})

test('a page is read however deep it is nested, with a title of the first heading that says something', async () => {
  const text = `<h1> </h1>${'<h2><div>'.repeat(50_000)}Deep down`
  expect(await readDocument('a.html', Buffer.from(text))).toEqual({ title: 'Deep down', text: 'Deep down', links: [] })
})

/** Each took minutes. */
test.each([
  ['blanks in a heading', `# a${' '.repeat(200_000)}b`],
  ['brackets in a heading', `# ${'!['.repeat(200_000)}`],
  ['blanks in a title', `---\ntitle: a${' '.repeat(400_000)}b\n---\n`],
  ['links that end nowhere', '](a "'.repeat(400_000)],
])('Markdown is read in one go: %s', async (_, text) => {
  expect(await readDocument('a.md', Buffer.from(text))).toMatchObject({ text, links: [] })
})

test.each([
  ['UTF-16', Buffer.from('\ufeffWords', 'utf16le')],
  ['UTF-16 without a mark', Buffer.from('Words', 'utf16le')],
  ['Latin-1', Buffer.from('Wörter', 'latin1')],
])('text in %s is refused with what to do', async (_, bytes) => {
  await expect(readDocument('a.txt', bytes)).rejects.toThrow('save it as UTF-8')
})

describe('readPdfText()', () => {
  /** A drawing that its parser needs hours for. */
  const endless = pdfOf(`a) Tj ET ${'q '.repeat(500_000)} BT (b`, 'Endless')

  test('stops a file that takes too long or too much, and reads the next one', async () => {
    await expect(readPdfText(endless, { ms: 200, mb: 768 })).rejects.toThrow('it takes longer than 0.2 s')
    await expect(readPdfText(endless, { ms: 60_000, mb: 0 })).rejects.toThrow('it takes more than 0 MB of memory')
    for (const word of ['One', 'Two']) {
      expect(await readPdfText(pdfOf(word, 'T'))).toEqual({ text: word, title: 'T' })
    }
  })

  test('says what is wrong with a file', async () => {
    await expect(readPdfText(Buffer.from('words'))).rejects.toThrow('Invalid PDF structure')
    const hex = (byte: string) => `<${byte.repeat(32)}>`
    const locked = String(pdfOf('Secret', 'T')).replace(
      '/Info',
      `/Encrypt << /Filter /Standard /V 1 /R 2 /O ${hex('41')} /U ${hex('42')} /P -44 >> /ID [<00> <00>] /Info`,
    )
    await expect(readPdfText(Buffer.from(locked))).rejects.toThrow('it is encrypted')
  })
})
