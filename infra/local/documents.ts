import { readdirSync, readFileSync, type Stats, statSync } from 'node:fs'
import { join } from 'node:path'
import { Fault } from '../../shared/errors.ts'
import type { Documents } from '../../shared/world.ts'

/**
 * Documents a run may be started from by name: `<name>.yaml` directly in one of the folders (the first that has it
 * wins). Folders are looked at at each call, so that an edited or new file is used without a restart; what has not changed
 * since is not read again. Only names that the folder itself lists are opened: a name can never lead out of it.
 */
export function createDocuments(dirs: readonly string[], exampleDir: string): Documents {
  const dirsOf = (from?: 'deployed' | 'example') => (from === 'example' ? [exampleDir] : dirs)
  const listed = readUnlessUnchanged(listFolder)
  const texts = readUnlessUnchanged(readDocument)
  const filesOf = (dir: string): Files => {
    try {
      return listed(dir) ?? NO_FILES
    } catch (cause) {
      throw new Fault('Unavailable', 'folder_unreadable', `Cannot read the documents folder "${dir}".`, { cause })
    }
  }
  return {
    names: (from) => [...new Set(dirsOf(from).flatMap((dir) => [...filesOf(dir).keys()]))].sort(),
    async read(name, from) {
      for (const dir of dirsOf(from)) {
        const file = filesOf(dir).get(name)
        if (file !== undefined) return requireText(texts, join(dir, file))
      }
      return undefined
    },
  }
}

/** Of a folder: the first file of each name. */
type Files = ReadonlyMap<string, string>

const NO_FILES: Files = new Map()

/** Far above the 256 KiB a document may have: the check of the document says that better. */
const MAX_FILE_BYTES = 4_194_304

function listFolder(dir: string): Files {
  const entries = readdirSync(dir, { withFileTypes: true })
  const files = entries.filter((entry) => !entry.isDirectory() && /\.ya?ml$/.test(entry.name)).map(({ name }) => name)
  // The first of two keeps its name.
  const named = files.sort().reverse()
  return new Map(named.map((file) => [file.replace(/\.ya?ml$/, ''), file]))
}

/** Not beside the event loop: a small file is here sooner than another thread has heard of it. */
function readDocument(path: string, { size }: Stats): string {
  if (size > MAX_FILE_BYTES) {
    const message = `Cannot read document "${path}": it has ${size} bytes, at most ${MAX_FILE_BYTES} are allowed.`
    throw new Fault('InvalidInput', 'document_too_large', message, { status: 413 })
  }
  return readFileSync(path, 'utf8')
}

/** It was listed a moment ago: that it is gone is told as the file system does. */
function requireText(texts: (path: string) => string | undefined, path: string): string {
  return texts(path) ?? readFileSync(path, 'utf8')
}

/** What was read, and by what the file system would say that it is another. */
interface Seen<T> {
  readonly stamp: string
  /** When the stamp was first seen, ms of this process. */
  readonly since: number
  readonly value: T
  /** It was read long enough after that. */
  readonly isSettled: boolean
}

/** File systems tell times apart that lie so far from one another (FAT: two seconds). */
const COARSEST_MS = 2_000
const MOST_KEPT = 2_000

/**
 * `read` of a path, not done again while the path's inode, size and times are what they were; undefined: nothing is there. A
 * change within the same tick of the file system's clock changes no time: what is new is read again until that is over.
 */
function readUnlessUnchanged<T>(read: (path: string, stats: Stats) => T): (path: string) => T | undefined {
  const kept = new Map<string, Seen<T>>()
  return (path) => {
    const stats = statSync(path, { throwIfNoEntry: false })
    if (stats === undefined) {
      kept.delete(path)
      return undefined
    }
    const stamp = `${stats.dev}/${stats.ino}/${stats.size}/${stats.mtimeMs}/${stats.ctimeMs}`
    const there = kept.get(path)
    const isSame = there?.stamp === stamp
    if (isSame && there.isSettled) return there.value
    const now = performance.now()
    const since = isSame ? there.since : now
    const value = read(path, stats)
    if (kept.size >= MOST_KEPT) kept.clear()
    kept.set(path, { stamp, since, value, isSettled: now - since > COARSEST_MS })
    return value
  }
}
