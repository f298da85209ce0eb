import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openInputs } from '../../infra/local/folder-inputs.ts'

const MAX_BYTES = 10 * 1024 * 1024
const base = mkdtempSync(join(tmpdir(), 'sluice-inputs-'))
const dir = join(base, 'inputs')

beforeAll(() => {
  mkdirSync(join(dir, 'sub'), { recursive: true })
  mkdirSync(join(base, 'inputs-other'))
  writeFileSync(join(base, 'inputs-other', 'secret.txt'), 'secret')
  writeFileSync(join(dir, 'sub', 'a.txt'), 'hello')
  writeFileSync(join(dir, 'exact.bin'), Buffer.alloc(MAX_BYTES))
  writeFileSync(join(dir, 'large.bin'), Buffer.alloc(MAX_BYTES + 1))
  symlinkSync(join(dir, 'sub', 'a.txt'), join(dir, 'inside.txt'))
  symlinkSync(join(base, 'inputs-other', 'secret.txt'), join(dir, 'link.txt'))
  symlinkSync(join(base, 'inputs-other'), join(dir, 'folder'))
  symlinkSync('loop', join(dir, 'loop'))
})

afterAll(() => rmSync(base, { recursive: true, force: true }))

describe('openInputs()', () => {
  const inputs = openInputs(dir)

  test('reads files below the folder, through links that stay below', async () => {
    expect(Buffer.from(await inputs.read('main', 'sub/a.txt')).toString()).toBe('hello')
    expect(Buffer.from(await inputs.read('main', './sub/a.txt')).toString()).toBe('hello')
    expect(Buffer.from(await inputs.read('main', 'inside.txt')).toString()).toBe('hello')
    expect((await inputs.read('main', 'exact.bin')).byteLength).toBe(MAX_BYTES)
  })

  test('reads below a folder that is itself a link', async () => {
    symlinkSync(dir, join(base, 'alias'))
    expect((await openInputs(join(base, 'alias')).read('main', 'sub/a.txt')).byteLength).toBe(5)
  })

  test.each([
    ['a parent', '../inputs-other/secret.txt', 'input_outside', 'leads out of the inputs folder'],
    ['a parent further in', 'sub/../../inputs-other/secret.txt', 'input_outside', 'leads out'],
    ['a parent with backslashes', 'sub\\..\\..\\x', 'input_outside', 'leads out'],
    ['a link out', 'link.txt', 'input_outside', 'leads out'],
    ['a folder link out', 'folder/secret.txt', 'input_outside', 'leads out'],
    ['an absolute path', '/etc/hostname', 'input_path', 'Give a path below'],
    ['nothing', '', 'input_path', 'it is no relative path'],
    ['a zero byte', 'sub/a.txt\0.json', 'input_path', 'sub/a.txt\\0.json'],
    ['a folder', 'sub', 'input_not_a_file', 'Name a regular file'],
    ['the folder itself', '.', 'input_outside', 'leads out'],
    ['a missing file', 'sub/b.txt', 'input_missing', 'has exact.bin, folder, inside.txt'],
    ['a path through a file', 'inside.txt/x', 'input_missing', 'Put the file there'],
    ['a link to itself', 'loop', 'input_unreadable', 'Check the permissions'],
    ['one byte too many', 'large.bin', 'input_too_large', 'has 10485761 bytes, at most 10485760 (10 MiB)'],
  ])('refuses %s', async (_, path, code, said) => {
    await expect(inputs.read('main', path)).rejects.toMatchObject({ code, message: expect.stringContaining(said) })
  })

  test('says when the folder is not there, or is empty', async () => {
    const absent = openInputs(join(base, 'nowhere')).read('main', 'a.txt')
    await expect(absent).rejects.toMatchObject({ name: 'NotFound', message: expect.stringContaining('does not exist') })
    mkdirSync(join(base, 'empty'))
    const empty = openInputs(join(base, 'empty')).read('main', 'a.txt')
    await expect(empty).rejects.toMatchObject({ message: expect.stringContaining('is empty') })
  })
})
