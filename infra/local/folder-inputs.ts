import { constants } from 'node:fs'
import { type FileHandle, open, readdir, realpath, stat } from 'node:fs/promises'
import { isAbsolute, join, resolve, sep } from 'node:path'
import { Fault } from '../../shared/errors.ts'
import type { Inputs } from '../../shared/ports/objects.ts'

const MAX_BYTES = 10 * 1024 * 1024

/**
 * The Inputs port on a folder: regular files whose real path lies below `dir`, at most 10 MiB. A link is followed only
 * while it stays below. `dir` need not exist before the first read. Faults: InvalidInput input_path, Rejected
 * input_outside, NotFound input_missing, InvalidInput input_not_a_file, input_unreadable, LimitExceeded input_too_large
 * (413). Where there are several tenants each has a folder of its name in `dir`.
 */
export function openInputs(folder: string, tenants: readonly string[] = []): Inputs {
  return {
    async read(tenant, path) {
      const dir = tenants.length > 1 ? join(folder, tenant) : folder
      checkPath(dir, path)
      const root = await realPath(dir)
      const real = await realPath(resolve(dir, path))
      if (root === undefined || real === undefined) throw await missing(dir, path)
      if (!real.startsWith(root.endsWith(sep) ? root : root + sep)) throw outside(dir, path)
      return readBounded(dir, path, real)
    },
  }
}

function checkPath(dir: string, path: string): void {
  const parts = path.split(/[\\/]/)
  if (path === '' || path.includes('\0') || isAbsolute(path)) {
    const message = `Cannot read input "${path.replaceAll('\0', '\\0')}": it is no relative path. Give a path below "${dir}", as in "countries.json".`
    throw new Fault('InvalidInput', 'input_path', message)
  }
  if (parts.includes('..')) throw outside(dir, path)
}

async function realPath(path: string): Promise<string | undefined> {
  try {
    return await realpath(path)
  } catch (error) {
    if (isAbsence(error)) return undefined
    throw unreadable(path, error)
  }
}

async function readBounded(dir: string, path: string, real: string): Promise<Uint8Array> {
  // Looked at before it is opened: opening a pipe would wait for its writer.
  if (!(await stat(real)).isFile()) {
    const message = `Cannot read input "${path}": it is a folder or a special file. Name a regular file below "${dir}".`
    throw new Fault('InvalidInput', 'input_not_a_file', message)
  }
  const handle = await openFile(path, real)
  try {
    const { size } = await handle.stat()
    if (size > MAX_BYTES) throw tooLarge(path, size)
    const bytes = await handle.readFile()
    // A file that grows while it is read.
    if (bytes.byteLength > MAX_BYTES) throw tooLarge(path, bytes.byteLength)
    return bytes
  } finally {
    await handle.close()
  }
}

async function openFile(path: string, real: string): Promise<FileHandle> {
  try {
    return await open(real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  } catch (error) {
    throw unreadable(path, error)
  }
}

async function missing(dir: string, path: string): Promise<Fault> {
  const entries = await readdir(dir).catch(() => undefined)
  const names = entries?.filter((name) => !name.startsWith('.')).toSorted() ?? []
  const more = names.length > 10 ? ` and ${names.length - 10} more` : ''
  const there = names.length === 0 ? 'is empty' : `has ${names.slice(0, 10).join(', ')}${more}`
  const seen =
    entries === undefined ? `the inputs folder "${dir}" does not exist` : `the inputs folder "${dir}" ${there}`
  return new Fault(
    'NotFound',
    'input_missing',
    `Cannot read input "${path}": ${seen}. Put the file there and run again.`,
  )
}

function outside(dir: string, path: string): Fault {
  const message = `Cannot read input "${path}": it leads out of the inputs folder "${dir}". Only files below it are read; copy the file there.`
  return new Fault('Rejected', 'input_outside', message)
}

function tooLarge(path: string, size: number): Fault {
  const message = `Cannot read input "${path}": it has ${size} bytes, at most ${MAX_BYTES} (10 MiB) are read. Give a smaller file, or parts of it.`
  return new Fault('LimitExceeded', 'input_too_large', message, {
    status: 413,
    facts: { bytes: size, limit: MAX_BYTES },
  })
}

function unreadable(path: string, cause: unknown): Fault {
  const message = `Cannot read input "${path}": ${(cause as Error).message}. Check the permissions of the file and its folders.`
  return new Fault('InvalidInput', 'input_unreadable', message, { cause })
}

function isAbsence(error: unknown): boolean {
  const code = (error as NodeJS.ErrnoException).code
  return code === 'ENOENT' || code === 'ENOTDIR'
}
