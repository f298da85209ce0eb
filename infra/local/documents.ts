import { type Dirent, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { Fault } from '../../shared/errors.ts'
import type { Documents } from '../../shared/world.ts'

/**
 * Documents a run may be started from by name: `<name>.yaml` directly in one of the folders (the first that has it
 * wins). Folders are read at each call, so that an edited or new file is used without a restart. Only names that the
 * folder itself lists are opened: a name can never lead out of it.
 */
export function createDocuments(dirs: readonly string[], exampleDir: string): Documents {
  const dirsOf = (from?: 'deployed' | 'example') => (from === 'example' ? [exampleDir] : dirs)
  return {
    names: (from) => [...new Set(dirsOf(from).flatMap((dir) => filesOf(dir).map(nameOf)))].sort(),
    async read(name, from) {
      for (const dir of dirsOf(from)) {
        const file = filesOf(dir).find((candidate) => nameOf(candidate) === name)
        if (file !== undefined) return readDocument(join(dir, file))
      }
      return undefined
    },
  }
}

/** Far above the 256 KiB a document may have: the check of the document says that better. */
const MAX_FILE_BYTES = 4_194_304

function filesOf(dir: string): readonly string[] {
  return entriesOf(dir)
    .filter((entry) => !entry.isDirectory() && /\.ya?ml$/.test(entry.name))
    .map((entry) => entry.name)
    .sort()
}

function entriesOf(dir: string): readonly Dirent[] {
  try {
    return readdirSync(dir, { withFileTypes: true })
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw new Fault('Unavailable', 'folder_unreadable', `Cannot read the documents folder "${dir}".`, { cause })
  }
}

function nameOf(file: string): string {
  return file.replace(/\.ya?ml$/, '')
}

/** Not beside the event loop: a small file is here sooner than another thread has heard of it. */
function readDocument(path: string): string {
  const { size } = statSync(path)
  if (size > MAX_FILE_BYTES) {
    const message = `Cannot read document "${path}": it has ${size} bytes, at most ${MAX_FILE_BYTES} are allowed.`
    throw new Fault('InvalidInput', 'document_too_large', message, { status: 413 })
  }
  return readFileSync(path, 'utf8')
}
