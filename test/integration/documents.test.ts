import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { createDocuments } from '../../infra/local/documents.ts'

let dir: string

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'sluice-documents-'))
  for (const folder of ['mine', 'ours', 'package']) mkdirSync(join(dir, folder))
  writeFileSync(join(dir, 'secret.yaml'), 'secret')
  writeFileSync(join(dir, 'mine', 'brief.yaml'), 'mine')
  writeFileSync(join(dir, 'ours', 'brief.yaml'), 'ours')
  writeFileSync(join(dir, 'ours', 'plan.yml'), 'plan')
  writeFileSync(join(dir, 'ours', 'notes.txt'), 'notes')
  writeFileSync(join(dir, 'package', 'basic.yaml'), 'basic')
})

afterAll(() => rmSync(dir, { recursive: true }))

function open() {
  const folders = ['mine', 'ours', 'absent'].map((folder) => join(dir, folder))
  return createDocuments(folders, join(dir, 'package'))
}

describe('createDocuments()', () => {
  it('names every YAML file of the folders once; the first folder wins', async () => {
    expect(open().names()).toEqual(['brief', 'plan'])
    expect(await open().read('brief', 'deployed')).toBe('mine')
    expect(await open().read('plan', 'deployed')).toBe('plan')
  })

  it('keeps the examples of the package apart', async () => {
    expect(await open().read('basic', 'example')).toBe('basic')
    expect(await open().read('basic', 'deployed')).toBeUndefined()
    expect(await open().read('plan', 'example')).toBeUndefined()
  })

  it('uses a file that was added or edited after it was opened', async () => {
    const documents = open()
    writeFileSync(join(dir, 'mine', 'later.yaml'), 'later')
    expect(await documents.read('later', 'deployed')).toBe('later')
    rmSync(join(dir, 'mine', 'later.yaml'))
    expect(await documents.read('later', 'deployed')).toBeUndefined()
  })

  it('reads a file again that was edited, however old it was and as long as the text may be', async () => {
    const file = join(dir, 'mine', 'kept.yaml')
    writeFileSync(file, 'first')
    utimesSync(file, 1_000_000, 1_000_000)
    const documents = open()
    const later = vi.spyOn(performance, 'now')
    for (const [i, text] of ['first', 'other', 'third'].entries()) {
      writeFileSync(file, text)
      // What was read long after it was written is not read again: the times tell whether it is the same.
      for (const seconds of [0, 3, 6]) {
        later.mockReturnValue((100 * i + seconds) * 1_000)
        expect(await documents.read('kept', 'deployed')).toBe(text)
      }
      utimesSync(file, 1_000_000 + i, 1_000_000 + i)
      expect(await documents.read('kept', 'deployed')).toBe(text)
    }
    later.mockRestore()
    rmSync(file)
    expect(documents.names()).toEqual(['brief', 'plan'])
  })

  it.each(['../secret', '..', '', 'notes', 'notes.txt', '/etc/passwd', 'brief.yaml'])(
    'has no document %j',
    async (name) => {
      expect(await open().read(name, 'deployed')).toBeUndefined()
    },
  )

  it('refuses a file far above any document, without reading it', async () => {
    writeFileSync(join(dir, 'mine', 'huge.yaml'), Buffer.alloc(4_194_305, 32))
    await expect(open().read('huge', 'deployed')).rejects.toMatchObject({ code: 'document_too_large', status: 413 })
    rmSync(join(dir, 'mine', 'huge.yaml'))
  })
})
